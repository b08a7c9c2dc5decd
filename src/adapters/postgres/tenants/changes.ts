import { callerProblems } from '../../../domain/caller.ts';
import type { AccountId } from '../../../domain/ids.ts';
import { ProblemError, type Problem } from '../../../domain/problem.ts';
import {
  operatorCaller,
  type ChangedBy,
  type IdempotencyClaim,
  type Replay,
} from '../../../ports/changes.ts';
import type { Committed, LimitReached } from '../../../ports/tenant-store.ts';
import type { Hints } from '../coherence/hints.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';
import { noSuch } from '../../../domain/no-such.ts';
import { limitsToMembers, type Limits } from '../../../domain/limits/limits.ts';
import type { AccountRow, KeyRow } from './rows.ts';

/**
 * Row that a change function returns; see `change_begin.sql`. Each function's comment says which other members come
 * with each `outcome`.
 */
export interface Changed<Outcome extends string> {
  readonly outcome: 'done' | 'again' | Outcome;
  readonly seq: number | null;
  /** Name of the history when the change began. */
  readonly incarnation: string;
  /**
   * The changed account. If `outcome` is `limit`, `account` or `key` holds the reached limit instead of a record; see
   * {@link limitReached}.
   */
  readonly account: AccountRow;
  readonly key: KeyRow;
  readonly holder: AccountId;
}

/** Returns SQL that calls a change function with `request` as its first argument. */
export type ChangeCall = (sql: Sql, request: ReturnType<Sql['json']>) => ReturnType<Sql>;

/**
 * Makes all changes to accounts and keys. Each change is a single call to an SQL function: one round trip and one
 * transaction.
 */
export class Changes {
  readonly #db: Runner;
  readonly #hints: Pick<Hints, 'nudge'>;

  /** @param hints nudged after every change that has a position in the coherence log */
  constructor(db: Runner, hints: Pick<Hints, 'nudge'>) {
    this.#db = db;
    this.#hints = hints;
  }

  /**
   * Makes a change.
   *
   * @param claim idempotency key of a request that may be sent again. The result is stored under this key. If the key
   * already has a result, the change is not made and that result is returned
   * @param caller author of the change, for the event: an operator, or an API key whose rights are checked again
   * @throws ProblemError `idempotency_mismatch` or `idempotency_in_flight` if the claim conflicts with an earlier
   * request; `invalid_request` for a burst without a rate; `not_found` if the `owner` does not exist; or the problem
   * for a caller whose key or account has lost its rights
   */
  async run<Outcome extends string = never, More extends object = object>(
    claim: IdempotencyClaim | null,
    call: ChangeCall,
    caller?: ChangedBy,
    { tenant = accountOf(caller), limits, owner, plan, takesAway = false }: ChangeOptions = {},
  ): Promise<Changed<Outcome> & More> {
    const request = {
      ...requestOf(claim, caller),
      ...(caller?.budget && { budget: { ...caller.budget } }),
      ...(takesAway && { takes_away: true }),
      ...(limits && { limits: limitsToMembers(limits) }),
      ...(plan && { plan }),
      ...(owner && { owner: { ...owner } }),
    };
    const [changed] = await this.#db.run(
      (sql) => sql<[Changed<Outcome> & More]>`
        select *, coherence_history() as incarnation from ${call(sql, sql.json(request))}`,
      tenant,
    );
    const problem =
      changed.outcome === 'no-account'
        ? noSuch(owner?.parent === null ? 'account' : 'sub-account')
        : requestProblems[changed.outcome];
    if (problem !== undefined) throw new ProblemError(problem);
    if (changed.seq !== null) this.#hints.nudge();
    return changed;
  }
}

interface ChangeOptions {
  /** Whether the change only takes rights away. No budget refuses it then. */
  readonly takesAway?: boolean;
  /** Tenant on whose behalf the pool runs the change; defaults to the caller's account. */
  readonly tenant?: AccountId | undefined;
  /** Limits of the created or changed record. */
  readonly limits?: Partial<Limits> | undefined;
  readonly owner?: RequiredOwner | undefined;
  /** Name of the plan of a new parent; `null` for none. */
  readonly plan?: string | null;
}

/** Account that must exist for a change: a sub-account of `parent`, or a parent account if `parent` is `null`. */
export interface RequiredOwner {
  readonly id: AccountId;
  readonly parent: AccountId | null;
}

/** Returns the account that must own the keys to change; `undefined` if any account may own them. */
export function requiredOwner(
  id: AccountId | null,
  parent: AccountId | null | undefined,
): RequiredOwner | undefined {
  return id === null || parent === undefined ? undefined : { id, parent };
}

/** Returns `value` as the result of a change, together with the position of the change. */
export function committed<T>(
  changed: Pick<Changed<never>, 'seq' | 'incarnation'> & { readonly outcome: string },
  value: T,
): Committed<T> {
  const { seq, incarnation } = changed;
  return { value, seq, incarnation, ...replayOf(changed) };
}

/** Returns `{ replayed: true }` for the result of an earlier request, and `{}` for a new result. */
export function replayOf({ outcome }: { readonly outcome: string }): Replay {
  return outcome === 'again' ? { replayed: true } : {};
}

/** Returns the limit that was reached. Change functions return it in place of the account or key. */
export function limitReached(record: object): LimitReached {
  return { limit: (record as LimitReached).limit };
}

/** Converts a digest from base64url to the bytes that the database stores. */
export function digestBytes(digest: string): Buffer {
  return Buffer.from(digest, 'base64url');
}

/** Returns the members of a change function's `request` that describe the HTTP request; see `change_begin`. */
function requestOf(
  claim: IdempotencyClaim | null,
  caller: ChangedBy | undefined,
): Readonly<Record<string, string | Readonly<Record<string, string>>>> {
  return {
    ...(caller && callerMember(caller)),
    ...(caller?.requestId !== undefined && { id: caller.requestId }),
    ...(caller?.address !== undefined && { address: caller.address }),
    ...(claim && {
      claim: {
        caller: claim.caller === operatorCaller ? nilUuid : claim.caller,
        key: digestBytes(claim.key).toString('hex'),
        fingerprint: digestBytes(claim.fingerprint).toString('hex'),
      },
    }),
  };
}

/**
 * Returns the account on whose behalf the pool runs a change by default; `undefined` for an operator's change, which
 * belongs to no tenant.
 */
function accountOf(caller: ChangedBy | undefined): AccountId | undefined {
  return caller !== undefined && 'accountId' in caller ? caller.accountId : undefined;
}

function callerMember(caller: ChangedBy) {
  if ('operator' in caller) return { operator: caller.operator };
  const { accountId: account, keyId: key, portalSession } = caller;
  const session = portalSession !== undefined && { session: portalSession };
  return { caller: { account, key, ...session } };
}

const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Problems by outcome, for the rejections that all change functions have in common. */
const requestProblems: Readonly<Record<string, Problem | undefined>> = {
  'key-unknown': callerProblems.unknown,
  'key-revoked': callerProblems.revoked,
  'key-expired': callerProblems.expired,
  'account-suspended': callerProblems.suspended,
  'session-ended': callerProblems.sessionEnded,
  'burst-alone': {
    code: 'invalid_request',
    detail: '`/limits/burst` needs a requests_per_second: if that is null, burst must be null, too.',
    errors: [
      {
        pointer: '/limits/burst',
        detail: 'needs a requests_per_second: if that is null, burst must be null, too.',
      },
    ],
  },
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
