import { createReadStream } from 'node:fs';
import { JsonFault, parseStrictJson } from '../../api/rest/json-body.ts';
import { accountRows, keyRows, subAccountRows, type RowKind } from '../../api/operator/import/requests.ts';
import { suggest } from '../../domain/suggest.ts';
import { exitCode, Failure } from '../failure.ts';
import { FileFault, longestRow, readCsv } from './csv.ts';

/** Row types as given in the member `type`, in import order. */
export const rowTypes = ['account', 'sub_account', 'api_key'] as const;
export type RowType = (typeof rowTypes)[number];
export type FileFormat = 'csv' | 'jsonl';

export type RowKinds = Readonly<Record<RowType, RowKind<string, object>>>;

/** How the rows of each type are checked and sent. */
export const rowKinds: RowKinds = {
  account: accountRows,
  sub_account: subAccountRows,
  api_key: keyRows,
};

/** A row that could be read. */
export interface FileRow {
  readonly line: number;
  readonly type: RowType;
  readonly row: Readonly<Record<string, unknown>>;
}
/** A row that could not be read. */
export interface FaultyRow {
  readonly line: number;
  readonly fault: string;
}

/** A file of rows, which can be read more than once. */
export interface RowFile {
  readonly path: string;
  readonly format: FileFormat;
  /** Type of the rows that have no `type` of their own. */
  readonly type?: RowType;
}

/**
 * Returns the format `given`, or the one implied by the file's extension if `given` is `undefined`.
 *
 * @throws {Failure} if the format is unknown
 */
export function formatOf(path: string, given: string | undefined): FileFormat {
  const extension = given ?? path.toLowerCase().split('.').at(-1);
  switch (extension) {
    case 'csv':
      return 'csv';
    case 'jsonl':
    case 'ndjson':
      return 'jsonl';
    default:
      throw new Failure(exitCode.usage, 'Name the format: --format csv or --format jsonl.');
  }
}

/** Yields the rows of a file. If the rest of the file is unreadable, the last element is a fault. */
export async function* readRows(file: RowFile): AsyncGenerator<FileRow | FaultyRow> {
  try {
    yield* file.format === 'csv' ? csvRows(file) : jsonRows(file);
  } catch (error) {
    if (error instanceof FileFault) yield { line: error.line, fault: error.message };
    else throw cannotRead(file.path, error);
  }
}

function cannotRead(path: string, error: unknown): Failure {
  const { code } = error as { readonly code?: string };
  if (code === undefined) throw error;
  return new Failure(exitCode.failed, `${path} cannot be read (${code}).`);
}

/** Yields the text of a file. @throws {FileFault} if it is not UTF-8 */
async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch {
      throw new FileFault(line, 'The file is not UTF-8, from about here on.');
    }
  };
  for await (const bytes of createReadStream(path)) {
    const text = decode(bytes as Uint8Array);
    yield text;
    for (const c of text) if (c === '\n') line += 1;
  }
  yield decode();
}

async function* csvRows({ path, type }: RowFile): AsyncGenerator<FileRow | FaultyRow> {
  let columns: readonly string[] | undefined;
  for await (const { line, cells } of readCsv(textOf(path))) {
    if (columns === undefined) {
      columns = cells.map((cell) => cell.trim());
      const fault = headingFault(columns, type);
      if (fault !== undefined) throw new FileFault(line, fault);
    } else if (cells.length === columns.length) {
      yield typed(line, fromCells(columns, cells), type);
    } else {
      yield { line, fault: `The row has ${cells.length} cells, and the first row has ${columns.length}.` };
    }
  }
}

const metadataColumn = /^metadata\.(.+)$/;
const knownColumns: ReadonlySet<string> = new Set([
  'type',
  ...rowTypes.flatMap((type) => rowKinds[type].columns.filter((name) => name !== 'metadata')),
]);

function headingFault(columns: readonly string[], type: RowType | undefined): string | undefined {
  const unknown = columns.find((name) => !knownColumns.has(name) && !metadataColumn.test(name));
  if (unknown !== undefined) {
    const near = suggest(unknown, knownColumns);
    const meant = near === undefined ? '' : ` Did you mean \`${near}\`?`;
    return `The name of column ${columns.indexOf(unknown) + 1} is not known.${meant}`;
  }
  // Rows of JSON lines cannot have a member of this name, either.
  if (columns.includes('metadata.__proto__')) return '`metadata.__proto__` is not an acceptable name.';
  const twice = columns.find((name, i) => columns.indexOf(name) !== i);
  if (twice !== undefined) return `There are two columns \`${twice}\`.`;
  return columns.includes('type') || type !== undefined
    ? undefined
    : 'The column `type` is missing: add it, or name one with --type.';
}

/** Makes a row from its cells. An empty cell adds no member to the row. */
function fromCells(columns: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  const metadata: Record<string, string> = {};
  for (const [i, name] of columns.entries()) {
    const cell = cells[i] ?? '';
    const key = metadataColumn.exec(name)?.[1];
    if (cell === '') continue;
    if (key !== undefined) metadata[key] = cell;
    else row[name] = name === 'scopes' ? cell.split(' ').filter((scope) => scope !== '') : cell;
  }
  return Object.keys(metadata).length === 0 ? row : { ...row, metadata };
}

async function* jsonRows({ path, type }: RowFile): AsyncGenerator<FileRow | FaultyRow> {
  let line = 0;
  for await (const text of linesOf(textOf(path))) {
    line += 1;
    if (text.trim() === '') continue;
    const row = parseRow(text);
    yield 'fault' in row ? { line, fault: row.fault } : typed(line, row.row, type);
  }
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  let line = 1;
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > longestRow) throw new FileFault(line + lines.length, 'The line is too long.');
    yield* lines;
    line += lines.length;
  }
  yield rest;
}

function parseRow(text: string): { readonly row: Record<string, unknown> } | { readonly fault: string } {
  try {
    const row = parseStrictJson(text);
    if (typeof row === 'object' && row !== null && !Array.isArray(row))
      return { row: row as Record<string, unknown> };
    return { fault: 'It must be one JSON object.' };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return { fault: `${error.fault.pointer === '' ? 'The line' : error.fault.pointer} ${error.message}` };
  }
}

function typed(
  line: number,
  { type: said, ...row }: Readonly<Record<string, unknown>>,
  fallback: RowType | undefined,
): FileRow | FaultyRow {
  const type = said ?? fallback;
  return rowTypes.includes(type as RowType)
    ? { line, type: type as RowType, row }
    : { line, fault: `type must be one of ${rowTypes.join(', ')}.` };
}
