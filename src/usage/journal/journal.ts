import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { UsageRow } from '../../domain/usage.ts';
import { firstLine, lineOf, rowsOf, type OpenBatch, type OpenRow } from './batch.ts';
import { beforeMark, readWhole } from './taken.ts';

/**
 * Locks a folder until the lock is released or the process is gone. Resolves to `null` if the folder is already locked.
 */
export type LockFolder = (folder: string) => Promise<{ release(): Promise<void> } | null>;

export interface JournalOptions {
  /** Folder of all journals. It has one folder per store, which in turn has one folder per journal. */
  readonly dir: string;
  /** Name of the first journal, unique among all journals. */
  readonly id: string;
  /** Maximum total size of this journal's files, in bytes. */
  readonly mostBytes: number;
  readonly lock: LockFolder;
}

/** Name of the file that marks a journal's folder as complete. The file is written after the folder has been locked. */
const marker = 'journal';
/** Size in bytes above which the open batch's file is rewritten so that it holds each row only once. */
const rewriteBytes = 8 * 1024 * 1024;
/**
 * Flags for opening the file of a batch. The file is appended to, so that the mark of another process is not
 * overwritten; see {@link Journal.takenRows}.
 */
const flags = constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;

/**
 * The journal of this process. It has one file for the open batch, and one for each sealed batch that the store does
 * not have yet. Writes are synchronous, because requests wait for them. They go to the operating system's memory, so
 * the counts survive a crash of the process, but not of the machine.
 *
 * After a failed write, {@link writable} is false, and nothing is written until {@link takeUp} succeeds.
 */
export class Journal {
  readonly #options: JournalOptions;
  #id: string;
  #folder = '';
  #lock: { release(): Promise<void> } | null = null;
  #number = 1;
  #fd: number | null = null;
  /** Size in bytes of the open batch's file. */
  #bytes = 0;
  /** Number of rows in the open batch's file. */
  #rows = 0;
  /** Size in bytes of each sealed batch's file, keyed by batch number. */
  readonly #sealed = new Map<number, number>();
  #sealedBytes = 0;
  #writable = false;
  /**
   * Rows that another process has taken from the open batch's former file; `null` if there are none. See
   * {@link takenRows}.
   */
  #taken: readonly UsageRow[] | null = null;

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#id = options.id;
  }

  /** Name of this journal. It changes if another process takes the journal. */
  get id(): string {
    return this.#id;
  }

  /** Folder of this journal; an empty string before {@link open}. */
  get folder(): string {
    return this.#folder;
  }

  /** Whether the files hold all rows that were passed to {@link write}. */
  get writable(): boolean {
    return this.#writable;
  }

  /** Total size of this journal's files, in bytes. */
  get bytes(): number {
    return this.#sealedBytes + this.#bytes;
  }

  /**
   * Creates and locks the journal's folder. After a failed write, checks whether files can be written to the folder
   * again. The caller retries until the promise resolves.
   *
   * @param storeId id of the store that the counts are for
   */
  async open(storeId: string): Promise<void> {
    const { dir, lock } = this.#options;
    const folder = join(dir, storeId, this.#id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#lock ??= await lock(folder);
    if (this.#lock === null) throw new Error('the folder of a new usage journal is locked');
    await writeFile(join(folder, marker), firstLine);
  }

  /** Replaces the open batch's file with a new file that has all of the batch's counts. @throws if that fails */
  takeUp(batch: OpenBatch): void {
    if (this.#lock === null) throw new Error('the folder of the usage journal could not be made');
    const path = join(this.#folder, fileOf(this.#number));
    const text = batch.rows.length === 0 ? firstLine : firstLine + lineOf(batch.rows, 0);
    if (this.#sealedBytes + text.length > this.#options.mostBytes) throw new JournalFull();
    const fd = openSync(`${path}.new`, flags, 0o600);
    try {
      writeAll(fd, text);
      renameSync(`${path}.new`, path);
    } catch (error) {
      closeSync(fd);
      // A half-written file must not take up the little space that a full disk has left.
      tryTo(() => unlinkSync(`${path}.new`));
      throw error;
    }
    // Another process may have taken the old file before the new file replaced it.
    this.#taken ??= this.takenRows();
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = fd;
    this.#bytes = text.length;
    this.#rows = batch.rows.length;
    this.#writable = true;
    batch.written();
  }

  /**
   * Returns the rows of the open batch that another process has taken; `null` if no process has taken this journal. The
   * other process takes the journal only if it cannot see this process's lock, for example on a network file system. It
   * adds the rows that it has taken, and all sealed batches, to the store.
   */
  takenRows(): readonly UsageRow[] | null {
    if (this.#taken !== null || this.#fd === null) return this.#taken;
    const { size } = fstatSync(this.#fd);
    if (size === this.#bytes) return null;
    const text = readWhole(this.#fd, size);
    const taken = beforeMark(text);
    return taken === text ? null : rowsOf(taken);
  }

  /** Leaves this journal to the process that has taken it. The next {@link open} makes another journal. */
  leave(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    void this.#lock?.release().catch(() => undefined);
    this.#lock = null;
    this.#id = randomUUID();
    this.#folder = '';
    this.#number = 1;
    this.#bytes = this.#rows = this.#sealedBytes = 0;
    this.#sealed.clear();
    this.#writable = false;
    this.#taken = null;
  }

  /** Whether a sealed batch has a file. */
  hasFile(number: number): boolean {
    return this.#sealed.has(number);
  }

  /** Writes the changed rows of the open batch in a single system call. @throws if that fails */
  write(batch: OpenBatch): void {
    if (batch.changed.length === 0) return;
    if (this.#fd === null || this.#bytes > rewriteBytes) return this.#guarded(() => this.takeUp(batch));
    const fd = this.#fd;
    const line = lineOf(batch.changed, this.#rows);
    this.#guarded(() => {
      if (this.bytes + line.length > this.#options.mostBytes) throw new JournalFull();
      writeAll(fd, line);
    });
    this.#bytes += line.length;
    this.#rows = batch.rows.length;
    batch.written();
  }

  #guarded(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#writable = false;
      // Cuts off a half-written line. The next write replaces the whole file.
      if (this.#fd !== null) {
        tryTo(() => ftruncateSync(this.#fd as number, this.#bytes));
        closeSync(this.#fd);
      }
      this.#fd = null;
      throw error;
    }
  }

  /** Closes the open batch's file; the next write starts a new one. Returns the number of the sealed batch. */
  seal(rows: readonly OpenRow[]): number {
    const number = this.#number++;
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    if (rows.length > 0 && this.#bytes > 0) {
      this.#sealed.set(number, this.#bytes);
      this.#sealedBytes += this.#bytes;
    }
    this.#bytes = 0;
    this.#rows = 0;
    return number;
  }

  /** Returns the rows of a sealed batch; `null` if its file is gone. */
  async read(number: number): Promise<UsageRow[] | null> {
    return readFile(join(this.#folder, fileOf(number)), 'latin1').then(
      rowsOf,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      },
    );
  }

  /**
   * Removes the file of a batch that the store has. A file that cannot be removed does no harm: if its rows are added
   * again, the store recognises them by their numbers.
   */
  async remove(number: number): Promise<void> {
    const bytes = this.#sealed.get(number);
    if (bytes === undefined) return;
    this.#sealed.delete(number);
    this.#sealedBytes -= bytes;
    await rm(join(this.#folder, fileOf(number)), { force: true }).catch(() => undefined);
  }

  /** @param isDone whether the store has all counts; if so, the journal's folder is removed */
  async close(isDone: boolean): Promise<void> {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
    this.#writable = false;
    if (this.#lock === null) return;
    if (isDone) await rm(this.#folder, { recursive: true, force: true }).catch(() => undefined);
    await this.#lock.release();
    this.#lock = null;
  }
}

/** Thrown if the journal's files would exceed their size limit. */
class JournalFull extends Error {
  override readonly name = 'JournalFull';

  constructor() {
    super('the usage journal has grown to usage.journal_max_bytes');
  }
}

/** Returns the file name for a batch. File names sort by batch number. */
function fileOf(number: number): string {
  return `${String(number).padStart(10, '0')}.batch`;
}

/** Returns the batch number in a file name; `undefined` if the file is not a batch. */
export function numberOf(file: string): number | undefined {
  return /^\d{10}\.batch$/.test(file) ? Number(file.slice(0, 10)) : undefined;
}

/** Whether a folder is a complete journal and not one still being created. */
export async function isJournal(folder: string): Promise<boolean> {
  return stat(join(folder, marker)).then(
    () => true,
    () => false,
  );
}

function writeAll(fd: number, text: string): void {
  const written = writeSync(fd, text, null, 'latin1');
  if (written < text.length) throw new Error(`the disk took ${written} of ${text.length} bytes`);
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    // The file stays as it is: removing or shortening it was only a best effort.
  }
}
