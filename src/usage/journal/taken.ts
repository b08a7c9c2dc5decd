import { readSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';

/** Text that a process appends to a file of a journal before it takes the journal over. Counts never contain it. */
const mark = '\n#\n';

/**
 * Marks a file before another process reads it. If the file's owner is alive after all, it finds the mark, and knows
 * that only the counts before the mark were taken. A disk that is full takes no mark; then the owner is taken for dead.
 */
export async function markTaken(path: string): Promise<void> {
  await appendFile(path, mark, 'latin1').catch(() => undefined);
}

/** Returns the part of a file that the first process to mark the file has taken; all of it if there is no mark. */
export function beforeMark(text: string): string {
  const at = text.indexOf(mark);
  return at === -1 ? text : text.slice(0, at);
}

/** Reads a whole file from its start, wherever the next write goes. */
export function readWhole(fd: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  for (;;) {
    const read = readSync(fd, buffer, length, bytes - length, length);
    length += read;
    if (read === 0 || length === bytes) return buffer.toString('latin1', 0, length);
  }
}
