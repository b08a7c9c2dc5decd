/** A row of a CSV file. */
export interface CsvRow {
  /** The line it begins at, from 1: a quoted cell may go over several. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A file that cannot be read on, and where. */
export class FileFault extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Longest row or line, in characters: without a bound a missing quote would take the whole file for one cell. */
export const longestRow = 1024 * 1024;

/**
 * Reads CSV (RFC 4180): commas, quotes doubled inside quotes, lines that end with CRLF or LF. Empty lines are passed over.
 *
 * @throws {FileFault} where a quote stands in a cell without quotes, or is not closed
 */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const reader = new CsvReader();
  for await (const chunk of text) yield* reader.push(chunk);
  yield* reader.end();
}

class CsvReader {
  #line = 1;
  #rowLine = 1;
  #length = 0;
  #cells: string[] = [];
  #cell = '';
  /** `closed`: a quote has been closed, or begins a doubled one. */
  #state: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  #rows: CsvRow[] = [];

  push(chunk: string): readonly CsvRow[] {
    for (let i = 0; i < chunk.length; i++) {
      const next = this.#state === 'quoted' ? chunk.indexOf('"', i) : endOfPlain(chunk, i);
      if (this.#state !== 'closed' && next !== i) {
        const run = chunk.slice(i, next === -1 ? chunk.length : next);
        this.#add(run);
        if (next === -1) break;
        i = next;
      }
      this.#mark(chunk.charAt(i));
    }
    return this.#take();
  }

  end(): readonly CsvRow[] {
    if (this.#state === 'quoted') throw new FileFault(this.#rowLine, 'A quote is not closed.');
    this.#endRow();
    return this.#take();
  }

  #take(): readonly CsvRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Characters that mean themselves. */
  #add(run: string): void {
    this.#length += run.length;
    if (this.#length > longestRow) throw new FileFault(this.#rowLine, 'The row is too long.');
    if (this.#state === 'quoted') for (const c of run) if (c === '\n') this.#line += 1;
    if (this.#state === 'start') this.#state = 'plain';
    this.#cell += run;
  }

  /** A quote, a comma or the end of a line; in a closed cell any character. */
  #mark(character: string): void {
    switch (character) {
      case '"':
        if (this.#state === 'plain')
          throw new FileFault(this.#line, 'A quote stands in a cell that does not begin with one.');
        if (this.#state === 'closed') this.#cell += '"';
        this.#state = this.#state === 'quoted' ? 'closed' : 'quoted';
        break;
      case ',':
        this.#endCell();
        break;
      case '\n':
        this.#endRow();
        this.#line += 1;
        this.#rowLine = this.#line;
        break;
      case '\r':
        break;
      default:
        throw new FileFault(this.#line, 'Something stands after a closed quote.');
    }
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  #endRow(): void {
    const isEmpty = this.#cells.length === 0 && this.#cell === '' && this.#state === 'start';
    this.#endCell();
    if (!isEmpty) this.#rows.push({ line: this.#rowLine, cells: this.#cells });
    this.#cells = [];
    this.#length = 0;
  }
}

const plainEnd = /[",\r\n]/g;

/** Where a cell without quotes ends, or -1. */
function endOfPlain(text: string, from: number): number {
  plainEnd.lastIndex = from;
  return plainEnd.exec(text)?.index ?? -1;
}
