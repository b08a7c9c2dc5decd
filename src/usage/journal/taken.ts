import { readSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';

/** A process appends this text to each file of a journal that it takes over. Counts never contain it. */
const mark = '\n#\n';

/**
 * Marks a file whose counts this process takes. If the file's owner is alive after all, the owner finds the mark and
 * knows that only the counts before the mark were taken. If the mark cannot be written, such as on a full disk, the
 * owner is assumed to be dead.
 */
export async function markTaken(path: string): Promise<void> {
  await appendFile(path, mark, 'latin1').catch(() => undefined);
}

/**
 * Returns the part of a file before its first mark; the whole file if there is no mark. The process that wrote the
 * first mark has taken that part.
 */
export function beforeMark(text: string): string {
  const at = text.indexOf(mark);
  return at === -1 ? text : text.slice(0, at);
}

/** Reads a whole file from its start, whatever the descriptor's current position is. */
export function readWhole(fd: number, bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  let length = 0;
  for (;;) {
    const read = readSync(fd, buffer, length, bytes - length, length);
    length += read;
    if (read === 0 || length === bytes) return buffer.toString('latin1', 0, length);
  }
}
