import type { AccountId } from '../../../domain/ids.ts';
import { ProblemError, type Problem } from '../../../domain/problem.ts';
import {
  operatorCaller,
  type Committed,
  type IdempotencyClaim,
  type Replay,
} from '../../../ports/tenant-store.ts';
import type { Hints } from '../coherence/hints.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';
import type { AccountRow, KeyRow } from './rows.ts';

/** What a function of `0007_changes.sql` returns; members other than `outcome` as that one says. */
export interface Changed<Outcome extends string> {
  readonly outcome: 'done' | 'again' | Outcome;
  readonly seq: number | null;
  /** What the database called its history when the change began. */
  readonly incarnation: string;
  readonly account: AccountRow;
  readonly key: KeyRow;
  readonly holder: AccountId;
}

/** A call of one of those functions; `request` is its first argument. */
type ChangeStatement = (sql: Sql, request: ReturnType<Sql['json']>) => PromiseLike<readonly unknown[]>;

/** The one way to change an account or a key: one call of one function, which is one round trip and one transaction. */
export class Changes {
  readonly #db: Runner;
  readonly #hints: Pick<Hints, 'nudge'>;

  /** @param hints nudged after every change that a request may wait for */
  constructor(db: Runner, hints: Pick<Hints, 'nudge'>) {
    this.#db = db;
    this.#hints = hints;
  }

  /**
   * @param claim where the request may be sent again: the change is then noted for it, or found to be made already
   * @param tenant whose turn it takes; an operator's where absent
   * @throws ProblemError `idempotency_mismatch` or `idempotency_in_flight` where the claim says so
   */
  async run<Outcome extends string = never>(
    claim: IdempotencyClaim | null,
    statement: ChangeStatement,
    tenant?: AccountId,
  ): Promise<Changed<Outcome>> {
    const rows = await this.#db.run((sql) => statement(sql, sql.json(requestOf(claim))), tenant);
    const [changed] = rows as [Changed<Outcome>];
    const problem = claimProblems[changed.outcome];
    if (problem !== undefined) throw new ProblemError(problem);
    if (changed.seq !== null) this.#hints.nudge();
    return changed;
  }
}

/** A result with the position to wait for. */
export function committed<T>(
  changed: Pick<Changed<never>, 'seq' | 'incarnation'> & { readonly outcome: string },
  value: T,
): Committed<T> {
  const { seq, incarnation } = changed;
  return { value, seq, incarnation, ...replayOf(changed) };
}

/** The member that marks what an earlier request made. */
export function replayOf({ outcome }: { readonly outcome: string }): Replay {
  return outcome === 'again' ? { replayed: true } : {};
}

/** A digest as it is stored. */
export function digestBytes(digest: string): Buffer {
  return Buffer.from(digest, 'base64url');
}

/** What the functions are told of the request. */
function requestOf(
  claim: IdempotencyClaim | null,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  if (claim === null) return {};
  const { caller, key, fingerprint } = claim;
  return {
    claim: {
      caller: caller === operatorCaller ? nilUuid : caller,
      key: digestBytes(key).toString('hex'),
      fingerprint: digestBytes(fingerprint).toString('hex'),
    },
  };
}

const nilUuid = '00000000-0000-0000-0000-000000000000';

const claimProblems: Readonly<Record<string, Problem | undefined>> = {
  mismatch: {
    code: 'idempotency_mismatch',
    detail:
      'This Idempotency-Key came with another request before. A key stands for one request: take a new one for a new request.',
  },
  'in-flight': {
    code: 'idempotency_in_flight',
    detail:
      'The first request with this Idempotency-Key is still at work. Send this one again to learn how it went.',
    retryAfter: 1,
  },
};
