import { pipeline, Readable } from 'node:stream';
import { CsvError, parse, type Info } from 'csv-parse';

/** A row of a CSV file. */
export interface CsvRow {
  /** Number of the line on which the row starts, from 1. A quoted cell may span several lines. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A fault that makes the rest of a file unreadable, with its line. */
export class FileFault extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * Approximate maximum length of a CSV row or JSON line, in bytes. Without a limit, a missing quote would turn the rest
 * of the file into one cell.
 */
export const longestRow = 1024 * 1024;
/** Maximum number of cells in a row. Empty cells have no length, but take memory. */
const mostCells = 1_000;

/**
 * Reads CSV (RFC 4180): commas between cells, doubled quotes inside quoted cells, and lines ending in CRLF or LF. Empty
 * lines are skipped.
 *
 * @throws {FileFault} with the row's first line, if the row is not valid CSV, is longer than {@link longestRow}, or has
 * more than {@link mostCells} cells
 */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const lines = new LineCount();
  const begun: number[] = [];
  const rows = parse({
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRow,
    cast: (cell, info) => {
      if (info.index < mostCells) return cell;
      throw new FileFault(lines.beginning(info), 'The row has too many cells.');
    },
    on_record: (cells, info) => {
      begun.push(lines.next(cells, info));
      return cells;
    },
  });
  // Errors from `text` and the parser are thrown by the loop below, so they are ignored here.
  pipeline(Readable.from(text), rows, () => undefined);
  try {
    for await (const cells of rows) yield { line: begun.shift() as number, cells: cells as string[] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileFault(lines.beginning(error as unknown as Info), faults[error.code] ?? error.message);
  }
}

/** Counts lines by looking at the cells, because csv-parse counts a CRLF in a quoted cell as two line breaks. */
class LineCount {
  /** Line on which the next row would start in a file without empty lines. `beginning` adds the empty lines. */
  #line = 1;

  /** Returns the line on which the next row starts. `empty_lines` is the number of empty lines in the file so far. */
  beginning({ empty_lines: empty }: Pick<Info, 'empty_lines'>): number {
    return this.#line + empty;
  }

  next(cells: readonly string[], info: Pick<Info, 'empty_lines'>): number {
    const line = this.beginning(info);
    this.#line += 1;
    for (const cell of cells) for (const character of cell) if (character === '\n') this.#line += 1;
    return line;
  }
}

const faults: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'A cell contains a quote, but does not begin with one.',
  CSV_INVALID_CLOSING_QUOTE: 'Text follows a closing quote.',
  CSV_QUOTE_NOT_CLOSED: 'A quote is not closed.',
  CSV_MAX_RECORD_SIZE: 'The row is too long.',
};
