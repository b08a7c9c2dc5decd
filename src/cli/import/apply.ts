import { pastExpiry } from '../../api/api-keys/imported-key.ts';
import { mostImported } from '../../api/rest/import-size.ts';
import { parseInstant } from '../../domain/rfc3339.ts';
import { Failure, problemIn } from '../failure.ts';
import type { OperatorApi } from '../operator-api.ts';
import type { NamesInFile } from './check.ts';
import type { Report } from './report.ts';
import { readRows, rowKinds, type FileRow, type RowFile, type RowType } from './rows.ts';
import { eachOf, isSlow, patiently, type Patience } from './send.ts';

/** Number of rows of one type with each outcome. For a plan, the outcomes are those that an import would have. */
export interface Tally {
  created: number;
  updated: number;
  unchanged: number;
  left_out: number;
}

/** Dependencies of {@link Applying}. */
export interface ApplyDeps {
  readonly api: OperatorApi;
  readonly patience: Patience;
  /** Names of the accounts and keys in the file. */
  readonly names: NamesInFile;
  readonly report: Report;
  readonly isPlan: boolean;
  /** When the import started, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Called after the database cancels a slow call, with the new maximum number of rows per call. */
  readonly onSlow: (rows: number) => void;
  /** Called with the number of rows just finished. */
  readonly onRows: (rows: number) => void;
}

/**
 * Number of concurrent calls. The database processes one import call at a time. While one call waits until replicas
 * have confirmed its changes, the database can process the next call.
 */
const atATime = 3;
/** Maximum number of characters of row data per call, well below the gateway's limit. */
const longestCall = 4 * 1024 * 1024;

const paths: Readonly<Record<RowType, string>> = {
  account: '/accounts/import',
  sub_account: '/sub-accounts/import',
  api_key: '/api-keys/import',
};

/** Sends the rows of a checked file to the gateway, one type of rows at a time. */
export class Applying {
  readonly #deps: ApplyDeps;
  /** Names of rejected accounts. A plan also rejects the rows that belong to these accounts. */
  readonly #leftOut = new Set<string>();
  /** Maximum number of rows per call, reduced when the database cancels a call that takes too long. */
  #most = mostImported;

  constructor(deps: ApplyDeps) {
    this.#deps = deps;
  }

  async rows(file: RowFile, type: RowType): Promise<Tally> {
    const tally = { created: 0, updated: 0, unchanged: 0, left_out: 0 };
    await eachOf(this.#batches(file, type, tally), atATime, (batch) => this.#send(type, batch, tally));
    return tally;
  }

  async *#batches(file: RowFile, type: RowType, tally: Tally): AsyncGenerator<readonly FileRow[]> {
    let batch: FileRow[] = [];
    let length = 0;
    for await (const each of readRows(file)) {
      // The file had no faults when it was checked, so it has changed since.
      if ('fault' in each) throw new Failure(1, `Line ${each.line} has changed since the file was checked.`);
      if (each.type !== type) continue;
      if (this.#isPast(each)) {
        this.#leaveOut(each, tally, 'invalid_request', 'It has expired already.');
        this.#deps.onRows(1);
        continue;
      }
      const rowLength = JSON.stringify(each.row).length;
      if (batch.length >= this.#most || length + rowLength > longestCall) {
        yield batch;
        [batch, length] = [[], 0];
      }
      batch.push(each);
      length += rowLength;
    }
    if (batch.length > 0) yield batch;
  }

  #isPast({ type, row }: FileRow): boolean {
    const { expires_at: text } = row;
    const instant = type === 'api_key' && typeof text === 'string' ? parseInstant(text) : undefined;
    return instant !== undefined && instant <= this.#deps.nowMs;
  }

  async #send(type: RowType, batch: readonly FileRow[], tally: Tally): Promise<void> {
    const { api, patience, isPlan, onRows } = this.#deps;
    const body = {
      [rowKinds[type].member]: batch.map(({ row }) => row),
      ...(isPlan && { plan: true }),
    };
    try {
      const call = () => api.call<Imported>('POST', paths[type], body);
      // A batch that was too slow is resent in halves.
      const { data } = await patiently(call, patience, (error) => isSlow(error) && batch.length > 1);
      batch.forEach((row, i) => this.#note(row, data[i] as ImportedRow, tally));
      onRows(batch.length);
    } catch (error) {
      if (isSlow(error) && batch.length > 1) return this.#sendHalves(type, batch, tally);
      const faulty = faultyRows(error, batch.length);
      if (faulty.size === 0) throw error;
      // Only the gateway can find these faults, because they depend on its key prefix or clock.
      for (const [i, detail] of faulty) this.#leaveOut(batch[i] as FileRow, tally, 'invalid_request', detail);
      onRows(faulty.size);
      const rest = batch.filter((_, i) => !faulty.has(i));
      if (rest.length > 0) await this.#send(type, rest, tally);
    }
  }

  async #sendHalves(type: RowType, batch: readonly FileRow[], tally: Tally): Promise<void> {
    const half = Math.ceil(batch.length / 2);
    if (half < this.#most) this.#deps.onSlow((this.#most = half));
    await this.#send(type, batch.slice(0, half), tally);
    await this.#send(type, batch.slice(half), tally);
  }

  #note(row: FileRow, { outcome, code, detail }: ImportedRow, tally: Tally): void {
    if (outcome !== 'rejected') {
      tally[outcome] += 1;
      if (detail !== null) this.#deps.report.note(row, detail);
    } else if (this.#deps.isPlan && code === 'not_found' && this.#willBeThere(row)) tally.created += 1;
    else this.#leaveOut(row, tally, code ?? '', detail ?? '');
  }

  #leaveOut(row: FileRow, tally: Tally, code: string, detail: string): void {
    tally.left_out += 1;
    for (const [, name] of this.#claims(row)) this.#leftOut.add(name);
    this.#deps.report.add(row, code, detail === pastExpiry ? 'It has expired already.' : detail);
  }

  #claims({ type, row }: FileRow) {
    return type === 'api_key' ? [] : rowKinds[type].claims(row, noKeys);
  }

  /**
   * Whether the file itself creates the account that a key or sub-account belongs to. A plan creates no accounts, so
   * the gateway cannot find an account that is only in the file.
   */
  #willBeThere({ row }: FileRow): boolean {
    const { account_id: id, account_external_id: name, sub_account_external_id: sub } = row;
    const parent = typeof id === 'string' ? { account_id: id } : { account_external_id: name };
    const account = typeof id === 'string' ? { id } : { external_id: name };
    const [wanted] =
      typeof sub === 'string'
        ? rowKinds.sub_account.claims({ ...parent, external_id: sub }, noKeys)
        : rowKinds.account.claims(account, noKeys);
    return wanted !== undefined && this.#deps.names.has(wanted[1]) && !this.#leftOut.has(wanted[1]);
  }
}

/** Placeholder rules for reading account names. Account rows ignore the rules; only key rows would use them. */
export const noKeys = { readApiKey: () => undefined, keyPrefix: '', nowMs: 0, newId: () => '' };

interface ImportedRow {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'rejected';
  readonly code: string | null;
  readonly detail: string | null;
}
interface Imported {
  readonly data: readonly ImportedRow[];
}

/**
 * Returns a fault for each row that a 400 response names, keyed by the row's index in the batch. If a row has several
 * faults, the first fault is returned. The map is empty if the error is not a 400 response. It is also empty if a fault
 * belongs to no row.
 */
function faultyRows(error: unknown, rows: number): ReadonlyMap<number, string> {
  const { status, errors = [] } = problemIn(error);
  const faulty = new Map<number, string>();
  if (status !== 400) return faulty;
  for (const { pointer, detail } of errors) {
    const [, , index, ...rest] = pointer.split('/');
    const position = Number(index);
    if (!Number.isInteger(position) || position >= rows) return new Map();
    if (!faulty.has(position))
      faulty.set(position, rest.length === 0 ? detail : `${rest.join('/')} ${detail}`);
  }
  return faulty;
}
