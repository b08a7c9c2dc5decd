import { open, type FileHandle } from 'node:fs/promises';
import { exitCode, Failure } from '../failure.ts';
import { printableJson } from '../output.ts';
import { inThousands } from './progress.ts';
import type { FileRow } from './rows.ts';

/** A row that was left out, without its secrets. `line` is its line number in the file. */
export interface LeftOutRow {
  readonly line: number;
  readonly type: string;
  readonly account_external_id?: string;
  readonly external_id?: string;
  readonly name?: string;
  readonly code: string;
  readonly reason: string;
}

/** Maximum number of left-out rows that the command's output shows. The report file contains all left-out rows. */
const mostShown = 20;

/**
 * Reports rows as soon as they are left out. If the command line names a report file, each row is written to it as one
 * line of JSON.
 */
export class Report {
  readonly #path: string;
  readonly #file: FileHandle | undefined;
  readonly shown: LeftOutRow[] = [];
  count = 0;
  /** The first rows that exist and keep a value that differs from the file's. They are not left out. */
  readonly notes: { readonly line: number; readonly reason: string }[] = [];
  noteCount = 0;
  #writing: Promise<unknown> = Promise.resolve();

  private constructor(path = '', file?: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Opens a report and, if `path` is given, its file. @throws {Failure} if the file cannot be written */
  static async open(path: string | undefined): Promise<Report> {
    if (path === undefined) return new Report();
    try {
      return new Report(path, await open(path, 'w', 0o600));
    } catch (error) {
      throw notWritten(path, error);
    }
  }

  add({ line, type, row }: FileRow, code: string, reason: string): void {
    const left: LeftOutRow = {
      ...{ line, type, ...textOf(row, 'account_external_id'), ...textOf(row, 'external_id') },
      ...{ ...textOf(row, 'name'), code, reason },
    };
    this.count += 1;
    if (this.shown.length < mostShown) this.shown.push(left);
    const file = this.#file;
    if (!file) return;
    this.#writing = this.#writing.then(() => file.appendFile(`${printableJson(left)}\n`));
    this.#writing.catch(() => undefined);
  }

  /** Notes that a row exists and keeps a value that differs from the file's. The report file has no notes. */
  note({ line }: FileRow, reason: string): void {
    this.noteCount += 1;
    if (this.notes.length < mostShown) this.notes.push({ line, reason });
  }

  /** Fails if the report file lacks a row. To be called last, as the changes have been made. @throws {Failure} */
  async checkWritten(): Promise<void> {
    try {
      await this.#writing;
    } catch (error) {
      throw notWritten(this.#path, error);
    }
  }

  /** Fails if any row was left out, so that scripts notice. @throws {Failure} */
  refuse(): void {
    if (this.count === 0) return;
    const rows = this.count === 1 ? 'A row was' : `${inThousands(this.count)} rows were`;
    throw new Failure(exitCode.failed, `${rows} left out.`);
  }

  /** Closes the file once no row is being written. {@link checkWritten} tells whether all were. */
  async close(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#file?.close();
  }
}

function notWritten(path: string, error: unknown): Failure {
  const { code } = error as { readonly code?: string };
  return new Failure(exitCode.failed, `The report ${path} cannot be written (${code ?? 'error'}).`);
}

function textOf(row: Readonly<Record<string, unknown>>, name: string): Record<string, string> {
  const value = row[name];
  return typeof value === 'string' ? { [name]: value } : {};
}
