import type { AccountId, KeyId } from '../../domain/ids.ts';
import { sumOfUnits, type UsageRow, type UsedBy } from '../../domain/usage.ts';

/** A row that can still receive counts. */
export type OpenRow = { -readonly [field in keyof UsageRow]: UsageRow[field] } & {
  /** Index among the rows of its batch. */
  readonly index: number;
  /** Whether the row has changed since it was last written to the journal. */
  changed: boolean;
};

/** Rows of one key in one hour. Most keys act as only one account, so a map of accounts is rarely created. */
interface RowsOfKey {
  readonly first: OpenRow;
  others: Map<AccountId, OpenRow> | undefined;
}

/**
 * The batch that is not sealed yet: its rows still receive counts. There is one row for each combination of account,
 * key and hour.
 */
export class OpenBatch {
  /** Rows in the order in which they were first counted. */
  readonly rows: OpenRow[] = [];
  /** Rows that have changed since they were last written to the journal. */
  readonly changed: OpenRow[] = [];
  readonly #hours = new Map<number, Map<KeyId, RowsOfKey>>();
  #latestHourMs = NaN;
  #latest = new Map<KeyId, RowsOfKey>();

  find({ accountId, keyId }: UsedBy, hourMs: number): OpenRow | undefined {
    if (hourMs !== this.#latestHourMs) this.#turnTo(hourMs);
    const rows = this.#latest.get(keyId);
    return rows?.first.accountId === accountId ? rows.first : rows?.others?.get(accountId);
  }

  /** Adds a row, which must not exist yet. */
  add(by: UsedBy, hourMs: number): OpenRow {
    if (hourMs !== this.#latestHourMs) this.#turnTo(hourMs);
    const { accountId, keyId } = by;
    const row = newRow(by, hourMs, this.rows.length);
    this.rows.push(row);
    const rows = this.#latest.get(keyId);
    if (rows === undefined) this.#latest.set(keyId, { first: row, others: undefined });
    else (rows.others ??= new Map<AccountId, OpenRow>()).set(accountId, row);
    return row;
  }

  /** Adds a row to {@link changed}. Must be called after every change to a row. */
  note(row: OpenRow): void {
    if (row.changed) return;
    row.changed = true;
    this.changed.push(row);
  }

  /** Marks all rows as written to the journal. */
  written(): void {
    for (const row of this.changed) row.changed = false;
    this.changed.length = 0;
  }

  #turnTo(hourMs: number): void {
    let rows = this.#hours.get(hourMs);
    if (rows === undefined) this.#hours.set(hourMs, (rows = new Map<KeyId, RowsOfKey>()));
    this.#latestHourMs = hourMs;
    this.#latest = rows;
  }
}

const counts = [
  ...(['requests', 'reads', 'writes', 'clientErrors', 'serverErrors'] as const),
  ...(['bytesIn', 'bytesOut', 'units', 'writesByDefault'] as const),
];

/**
 * Adds the counts of a row to a batch.
 *
 * @param before counts that another process has already taken from the row; these counts are left out
 */
export function addCounts(batch: OpenBatch, row: UsageRow, before: UsageRow | undefined): void {
  if (counts.every((count) => row[count] === (before?.[count] ?? 0))) return;
  const sum = batch.find(row, row.hourMs) ?? batch.add(row, row.hourMs);
  for (const count of counts) sum[count] = sumOfUnits(sum[count], row[count] - (before?.[count] ?? 0));
  sum.lastUsedMs = Math.max(sum.lastUsedMs, row.lastUsedMs);
  sum.lastWriteByDefaultMs = Math.max(sum.lastWriteByDefaultMs, row.lastWriteByDefaultMs);
  batch.note(sum);
}

/**
 * Makes a row without counts. Lists every field, because a row created by spreading another object takes more than
 * twice the memory.
 */
export function newRow({ accountId, parentId, keyId }: UsedBy, hourMs: number, index: number): OpenRow {
  return {
    accountId,
    parentId,
    keyId,
    hourMs,
    lastUsedMs: 0,
    writesByDefault: 0,
    lastWriteByDefaultMs: 0,
    requests: 0,
    reads: 0,
    writes: 0,
    clientErrors: 0,
    serverErrors: 0,
    bytesIn: 0,
    bytesOut: 0,
    units: 0,
    index,
    changed: false,
  };
}

/**
 * A journal file holds one batch. Its first line names the format. Each later line holds the changes made in one
 * iteration of the event loop. A single call writes the line together with its line feed. So a process that dies leaves
 * at most one incomplete line, at the end. A line consists of entries, each ending in `;`:
 *
 *     =INDEX,ACCOUNT,PARENT,KEY,HOUR;      adds a row; INDEX is the next free index
 *     INDEX,REQUESTS,READS,CLIENT_ERRORS,SERVER_ERRORS,BYTES_IN,BYTES_OUT,LAST_USED;
 *     INDEX,…,LAST_USED,WRITES_BY_DEFAULT,LAST_WRITE_BY_DEFAULT;      if the row has writes without the acting header
 *
 * If the row has units, `,UNITS` follows after the other numbers.
 *
 * The counts in an entry are the row's totals so far, so they replace earlier ones. Times are milliseconds since 1970.
 */
export const firstLine = 'tenancy-gateway usage 4\n';

/**
 * Returns a line of the file with the current totals of the changed rows.
 *
 * @param defined number of rows that the file already has; the line adds each changed row that the file lacks
 */
export function lineOf(changed: readonly OpenRow[], defined: number): string {
  let line = '';
  for (const row of changed) {
    if (row.index >= defined)
      line += `=${row.index},${row.accountId},${row.parentId},${row.keyId},${row.hourMs};`;
    line += `${row.index},${row.requests},${row.reads},${row.clientErrors},${row.serverErrors},`;
    line += `${row.bytesIn},${row.bytesOut},${row.lastUsedMs}`;
    if (row.writesByDefault > 0) line += `,${row.writesByDefault},${row.lastWriteByDefaultMs}`;
    line += row.units > 0 ? `,${row.units};` : ';';
  }
  return `${line}\n`;
}

/** Thrown if a journal file is in another version's format. */
export class UnknownFormat extends Error {
  override readonly name = 'UnknownFormat';
}

/**
 * Returns the rows in the text of a journal file. The index of a row is its place in the result. A last line without a
 * line feed is ignored. Reading stops at a damaged line: the disk has lost parts of the file, so the lines that follow
 * cannot be trusted.
 *
 * @throws {UnknownFormat} if the file is in another format
 */
export function rowsOf(text: string): UsageRow[] {
  const rows: OpenRow[] = [];
  // If the process died before it wrote any row, the file has only the first line or a part of it.
  if (firstLine.startsWith(text)) return rows;
  if (!text.startsWith(firstLine)) throw new UnknownFormat('a usage journal in an unknown format');
  let start = firstLine.length;
  for (let end = text.indexOf('\n', start); end !== -1; end = text.indexOf('\n', start)) {
    if (!takeLine(text.slice(start, end), rows)) break;
    start = end + 1;
  }
  return rows;
}

/** Adds the entries of a line to `rows`. If the line is damaged, leaves `rows` unchanged and returns `false`. */
function takeLine(line: string, rows: OpenRow[]): boolean {
  const before = rows.length;
  const totals: number[][] = [];
  const entries = line.split(';');
  const isWhole =
    entries.pop() === '' &&
    entries.every((entry) => (entry.startsWith('=') ? define(entry, rows) : total(entry, rows, totals)));
  if (!isWhole) {
    rows.length = before;
    return false;
  }
  for (const numbers of totals) setTotal(rows, numbers);
  return true;
}

function define(entry: string, rows: OpenRow[]): boolean {
  const [index, account, parent, key, hour, ...more] = entry.slice(1).split(',');
  if (!account || !parent || !key || Number(index) !== rows.length || !isCount(hour) || more.length > 0)
    return false;
  const by = { accountId: account as AccountId, parentId: parent as AccountId, keyId: key as KeyId };
  rows.push(newRow(by, Number(hour), rows.length));
  return true;
}

function total(entry: string, rows: readonly OpenRow[], totals: number[][]): boolean {
  const texts = entry.split(',');
  if (texts.length < 8 || texts.length > 11) return false;
  if (!texts.every(isCount) || Number(texts[0]) >= rows.length) return false;
  totals.push(texts.map(Number));
  return true;
}

function setTotal(rows: readonly OpenRow[], numbers: readonly number[]): void {
  const [index = 0, requests = 0, reads = 0, clientErrors = 0, serverErrors = 0, ...rest] = numbers;
  const [bytesIn = 0, bytesOut = 0, lastUsedMs = 0, ...ifAny] = rest;
  const units = ifAny.length % 2 === 1 ? ifAny.pop() : 0;
  const [writesByDefault = 0, lastWriteByDefaultMs = 0] = ifAny;
  const totals = { requests, reads, writes: requests - reads, clientErrors, serverErrors };
  const byDefault = { writesByDefault, lastWriteByDefaultMs };
  Object.assign(rows[index] as OpenRow, { ...totals, bytesIn, bytesOut, units, lastUsedMs, ...byDefault });
}

function isCount(text: string | undefined): boolean {
  return text !== undefined && /^\d{1,16}$/.test(text);
}
