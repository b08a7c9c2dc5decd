import { pipeline, Readable } from 'node:stream';
import { CsvError, parse, type Info } from 'csv-parse';

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

/** Longest row or line, in bytes: a missing quote would otherwise take the rest of the file for one cell. */
export const longestRow = 1024 * 1024;

/**
 * Reads CSV (RFC 4180): commas, quotes doubled inside quotes, lines that end with CRLF or LF. Empty lines are left out.
 *
 * @throws {FileFault} if a row is not CSV or is longer than {@link longestRow}, with the line that the row begins at
 */
export async function* readCsv(text: AsyncIterable<string>): AsyncGenerator<CsvRow> {
  const lines = new LineCount();
  const begun: number[] = [];
  const rows = parse({
    record_delimiter: ['\r\n', '\n'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: longestRow,
    on_record: (cells, info) => {
      begun.push(lines.next(cells, info));
      return cells;
    },
  });
  // An error of `text` or of the parser ends the iteration below, which throws it.
  pipeline(Readable.from(text), rows, () => undefined);
  try {
    for await (const cells of rows) yield { line: begun.shift() as number, cells: cells as string[] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileFault(lines.beginning(error as unknown as Info), faults[error.code] ?? error.message);
  }
}

/** Counts lines by the cells: csv-parse takes the CRLF in a quoted cell for two ends of a line. */
class LineCount {
  /** The line after the last row, without the empty ones. */
  #line = 1;

  /** The line at which a row begins that comes after `empty_lines`. */
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
  INVALID_OPENING_QUOTE: 'A quote stands in a cell that does not begin with one.',
  CSV_INVALID_CLOSING_QUOTE: 'Something stands after a closed quote.',
  CSV_QUOTE_NOT_CLOSED: 'A quote is not closed.',
  CSV_MAX_RECORD_SIZE: 'The row is too long.',
};
