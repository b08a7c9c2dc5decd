import type { AccountId, KeyId } from '../domain/ids.ts';
import type { UsageRow } from '../domain/usage.ts';

/** A row that is being counted in. */
export type OpenRow = { -readonly [field in keyof UsageRow]: UsageRow[field] } & {
  /** Its place among the rows of its batch. */
  readonly index: number;
  /** Has changed since it was last written to the journal. */
  changed: boolean;
};

/** The rows of one key in one hour. Most keys only ever act as one account, so a map of accounts is rarely made. */
interface RowsOfKey {
  readonly first: OpenRow;
  others: Map<AccountId, OpenRow> | undefined;
}

/** Counts since the last batch was sealed, by account, key and hour. */
export class OpenBatch {
  /** In the order in which they were first counted in. */
  readonly rows: OpenRow[] = [];
  /** Those that the journal does not have as they are. */
  readonly changed: OpenRow[] = [];
  readonly #hours = new Map<number, Map<KeyId, RowsOfKey>>();
  #latestHourMs = NaN;
  #latest = new Map<KeyId, RowsOfKey>();

  find(accountId: AccountId, keyId: KeyId, hourMs: number): OpenRow | undefined {
    if (hourMs !== this.#latestHourMs) this.#turnTo(hourMs);
    const rows = this.#latest.get(keyId);
    return rows?.first.accountId === accountId ? rows.first : rows?.others?.get(accountId);
  }

  /** Adds a row that is not there. */
  add(accountId: AccountId, keyId: KeyId, hourMs: number): OpenRow {
    if (hourMs !== this.#latestHourMs) this.#turnTo(hourMs);
    const row = newRow(accountId, keyId, hourMs, this.rows.length);
    this.rows.push(row);
    const rows = this.#latest.get(keyId);
    if (rows === undefined) this.#latest.set(keyId, { first: row, others: undefined });
    else (rows.others ??= new Map<AccountId, OpenRow>()).set(accountId, row);
    return row;
  }

  /** To be called after every change of a row. */
  note(row: OpenRow): void {
    if (row.changed) return;
    row.changed = true;
    this.changed.push(row);
  }

  /** The journal has every row as it is. */
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

/** Written out: an object made by spreading another one takes more than twice the memory. */
export function newRow(accountId: AccountId, keyId: KeyId, hourMs: number, index: number): OpenRow {
  return {
    accountId,
    keyId,
    hourMs,
    lastUsedMs: 0,
    requests: 0,
    reads: 0,
    writes: 0,
    clientErrors: 0,
    serverErrors: 0,
    bytesIn: 0,
    bytesOut: 0,
    index,
    changed: false,
  };
}
