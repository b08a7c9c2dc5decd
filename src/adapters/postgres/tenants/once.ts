import type { AccountId } from '../../../domain/ids.ts';
import { ProblemError, type Problem } from '../../../domain/problem.ts';
import { operatorCaller, type OnceStore, type RepeatableRequest } from '../../../ports/tenant-store.ts';
import type { Hints } from '../coherence/hints.ts';
import type { Runner } from '../connection/pool.ts';
import { toApiKey, toParent, toSubAccount, type AccountRow, type KeyRow } from './rows.ts';
import type { Sql } from '../connection/sql.ts';

/** What the mutations of `0005_idempotency.sql` answer; members other than `outcome` as that one says. */
interface Mutated<Outcome extends string> {
  readonly outcome: 'done' | 'again' | Outcome;
  readonly seq: number | null;
  readonly account: AccountRow;
  readonly key: KeyRow;
  readonly holder: AccountId;
}

/** The mutations of one request, each in one round trip together with the note that it was made. */
export function onceStore(db: Runner, hints: Hints, request: RepeatableRequest): OnceStore {
  /** The arguments that every one of the functions begins with. */
  const claim = (sql: Sql) =>
    sql`${request.caller === operatorCaller ? nilUuid : request.caller}, ${bytes(request.key)},
      ${bytes(request.fingerprint)}`;

  async function run<Outcome extends string = never>(
    statement: (sql: Sql) => PromiseLike<readonly unknown[]>,
  ): Promise<Mutated<Outcome>> {
    const [made] = (await db.run(statement)) as [Mutated<Outcome>];
    const refusal = refusals[made.outcome];
    if (refusal !== undefined) throw new ProblemError(refusal);
    if (made.seq !== null) hints.nudge();
    return made;
  }

  return {
    async createParent({ id, name }) {
      const made = await run(
        (sql) => sql`select *, null as seq from account_create_parent_once(${claim(sql)}, ${id}, ${name})`,
      );
      return { ...toParent(made.account), ...replay(made) };
    },

    async setParentStatus(id, status) {
      const set = await run<'none'>(
        (sql) => sql`
          select * from account_set_parent_status_once(${claim(sql)}, ${id}, ${status})`,
      );
      return set.outcome === 'none' ? null : { value: toParent(set.account), seq: set.seq };
    },

    async createSubAccount(parent, { id, name, externalId, metadata }, limit) {
      const made = await run<'no-parent' | 'taken' | 'limit'>(
        (sql) => sql`
          select * from account_create_sub_once(
            ${claim(sql)}, ${parent}, ${id}, ${name}, ${externalId}, ${sql.json(metadata)}, ${limit}
          )`,
      );
      switch (made.outcome) {
        case 'no-parent':
          throw new ProblemError({ code: 'not_found', detail: 'There is no such account.' });
        case 'taken':
          return { taken: made.holder };
        case 'limit':
          return { limit };
        case 'done':
        case 'again':
          return { value: toSubAccount(made.account), seq: made.seq, ...replay(made) };
      }
    },

    async setSubAccountStatus(parent, id, status) {
      const set = await run<'none'>(
        (sql) => sql`
          select * from account_set_sub_status_once(${claim(sql)}, ${parent}, ${id}, ${status})`,
      );
      return set.outcome === 'none' ? null : { value: toSubAccount(set.account), seq: set.seq };
    },

    async createKey(account, key, limit) {
      const made = await run<'none' | 'limit'>(
        (sql) => sql`
          select *, null as seq from api_key_create_once(
            ${claim(sql)}, ${account}, ${key.id}, ${key.name}, ${sql.json(key.scopes)}, ${bytes(key.digest)},
            ${bytes(key.clientSecretDigest)}, ${key.prefix}, ${key.last4}, ${key.expiresAt}, ${limit}
          )`,
      );
      if (made.outcome === 'none') return null;
      return made.outcome === 'limit' ? { limit } : { ...toApiKey(made.key), ...replay(made) };
    },

    async revokeKey(account, key) {
      const revoked = await run<'none'>(
        (sql) => sql`select * from api_key_revoke_once(${claim(sql)}, ${account}, ${key})`,
      );
      return revoked.outcome === 'none' ? null : { value: toApiKey(revoked.key), seq: revoked.seq };
    },
  };
}

const nilUuid = '00000000-0000-0000-0000-000000000000';

function bytes(digest: string): Buffer {
  return Buffer.from(digest, 'base64url');
}

function replay({ outcome }: { readonly outcome: string }): { readonly replayed?: true } {
  return outcome === 'again' ? { replayed: true } : {};
}

const refusals: Readonly<Record<string, Problem | undefined>> = {
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
