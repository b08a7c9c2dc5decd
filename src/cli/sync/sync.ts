import { ownSubAccountRows } from '../../api/operator/import/requests.ts';
import { exitCode, Failure, problemIn } from '../failure.ts';
import { noKeys } from '../import/apply.ts';
import type { CheckedFile, NamesInFile } from '../import/check.ts';
import { Progress, type ProgressStream } from '../import/progress.ts';
import type { Report } from '../import/report.ts';
import { readRows, type FileRow, type RowFile } from '../import/rows.ts';
import { eachOf, patiently } from '../import/send.ts';
import type { GatewayApi } from '../operator-api.ts';
import type { SubAccount } from '../../generated/operator-types.ts';
import type { PresentSubAccounts, RowAction, WantedSubAccount } from './plan.ts';

/** Milliseconds for which a call is retried while the gateway is busy or unreachable. */
const patienceMs = 300_000;
const atATime = 4;

/** Outcome of a sync or, for a plan, the outcome a sync would have. */
export interface Counts {
  created: number;
  updated: number;
  unchanged: number;
  /** Number of deactivated sub-accounts in the file. A sync does not reactivate them. */
  deactivated_in_file: number;
  deactivated: number;
  left_out: number;
  unnamed: number;
  missing: readonly SubAccount[];
}

/** Makes a parent's sub-accounts match the rows of a checked file. */
export class Sync {
  readonly #api: GatewayApi;
  readonly #file: RowFile;
  readonly #names: NamesInFile;
  readonly #rows: number;
  readonly #present: PresentSubAccounts;
  readonly #progress: Progress;

  constructor(
    api: GatewayApi,
    file: RowFile,
    { names, counts }: CheckedFile,
    present: PresentSubAccounts,
    progress: ProgressStream,
  ) {
    [this.#api, this.#file, this.#names, this.#present] = [api, file, names, present];
    this.#rows = counts.sub_account;
    this.#progress = new Progress(progress);
  }

  async run(isPlan: boolean, deactivates: boolean, report: Report): Promise<Counts> {
    const missing = this.#present.missing((externalId) => this.#isListed(externalId));
    const counts: Counts = {
      ...{ created: 0, updated: 0, unchanged: 0, deactivated_in_file: 0, deactivated: 0, left_out: 0 },
      ...{ unnamed: this.#present.unnamed, missing },
    };
    this.#progress.begin('sub-accounts', this.#rows);
    await eachOf(readRows(this.#file), atATime, async (each) => {
      if ('fault' in each)
        throw new Failure(exitCode.failed, `Line ${each.line} has changed since the file was checked.`);
      await this.#row(each, isPlan, counts, report);
      this.#progress.add(1);
    });
    this.#progress.end();
    if (!deactivates) return counts;
    await eachOf(inTurn(missing), atATime, async ({ id }) => {
      if (!isPlan) await this.#patiently('POST', `/${id}/deactivate`);
      counts.deactivated += 1;
    });
    return counts;
  }

  #isListed(externalId: string): boolean {
    return ownSubAccountRows
      .claims({ external_id: externalId }, noKeys)
      .some(([, name]) => this.#names.has(name));
  }

  async #row(row: FileRow, isPlan: boolean, counts: Counts, report: Report): Promise<void> {
    const { external_id: externalId, ...body } = row.row as unknown as WantedSubAccount;
    const wanted = { external_id: externalId, ...body };
    const action = this.#present.actionFor(wanted);
    if (action !== 'unchanged' && !isPlan) {
      const path = `/by-external-id/${encodeURIComponent(externalId)}`;
      try {
        await this.#patiently('PUT', path, body);
      } catch (error) {
        const code = codeOf(error);
        if (code === undefined) throw error;
        counts.left_out += 1;
        report.add(row, code, (error as Failure).message);
        return;
      }
    }
    counts[done[action]] += 1;
    if (this.#present.get(externalId)?.status === 'deactivated') counts.deactivated_in_file += 1;
  }

  #patiently(method: 'PUT' | 'POST', path: string, body?: unknown): Promise<unknown> {
    const onWait = (seconds: number, reason: string): void =>
      this.#progress.note(`Waiting for ${seconds} s: ${reason}`);
    return patiently(() => this.#api.call(method, path, body), { forMs: patienceMs, onWait });
  }
}

const done = { create: 'created', update: 'updated', unchanged: 'unchanged' } as const satisfies Record<
  RowAction,
  string
>;

/** Returns the problem code if an error concerns only one row, otherwise `undefined`. */
function codeOf(error: unknown): string | undefined {
  const { status = 0, code } = problemIn(error);
  return [400, 409].includes(status) ? code : undefined;
}

async function* inTurn<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list;
}
