import type { KeyDigest } from '../../../domain/api-key.ts';
import type { AccountId, KeyId } from '../../../domain/ids.ts';
import {
  factKey,
  type AccountFact,
  type ApiKeyName,
  type Asked,
  type FactKey,
  type FactReading,
  type FactSource,
  type FactValue,
} from '../../../ports/facts.ts';
import type { Limits } from '../../../domain/limits/limits.ts';
import { hasLimits } from '../../../domain/limits/plan.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';
import { toLimits, toOwnLimits, type AccountRow, type LimitColumns } from '../tenants/rows.ts';

/** An account in the JSON form that {@link statement} returns. */
interface AccountJson
  extends LimitColumns, Pick<AccountRow, 'plan' | 'unlimited' | 'max_sub_accounts' | 'max_api_keys'> {
  readonly id: AccountId;
  readonly parent_id: AccountId | null;
  readonly external_id: string | null;
  readonly status: Exclude<AccountFact['status'], 'deleted'>;
  readonly deleted_at: string | null;
  readonly active_sub_accounts: number | null;
}

/** A plan in the JSON form that {@link statement} returns. */
type PlanJson = LimitColumns & { readonly name: string };

/**
 * One row of a reading: the position, and a key or account if one was found. All rows come from one statement, and
 * therefore from one snapshot.
 */
interface Found {
  readonly seq: number;
  readonly incarnation: string;
  readonly digest?: Buffer | null;
  readonly key?:
    | (LimitColumns & {
        readonly id: KeyId;
        readonly account_id: AccountId;
        readonly scopes: readonly string[];
        readonly expires_at: string | null;
        readonly revoked_at: string | null;
        readonly limit_id: KeyId | null;
      })
    | null;
  readonly account: AccountJson | null;
  readonly parent: AccountJson | null;
  /** The plan of the parent, or of the account if that is a parent. */
  readonly plan: PlanJson | null;
  /** The plans that were asked for by name. */
  readonly plans?: readonly PlanJson[] | null;
}

/** Reads facts from PostgreSQL. */
export function factSource(db: Runner): FactSource {
  return {
    async readFacts(asked) {
      // The pool treats `keys` and `others` as tenants, so reads of API keys and reads of other facts take turns. Even
      // during a flood of made-up keys, one connection is therefore left for other facts.
      const rows = await db.run((sql) => statement(sql, asked), areApiKeys(asked) ? 'keys' : 'others');
      const facts = new Map<FactKey, FactValue>();
      for (const key of asked) facts.set(key, null);
      for (const { digest, key, account, parent, plan } of rows) {
        addPlan(facts, plan);
        addAccount(facts, parent);
        addAccount(facts, account);
        if (digest && key) facts.set(factKey.key(digest.toString('base64url') as KeyDigest), keyFact(key));
        if (account?.parent_id && account.external_id !== null) {
          const name = factKey.externalId(account.parent_id, account.external_id);
          if (facts.has(name)) facts.set(name, account.id);
        }
      }
      const [{ seq, incarnation, plans }] = rows;
      for (const plan of plans ?? []) addPlan(facts, plan);
      return { seq, incarnation, facts } satisfies FactReading;
    },
  };
}

/**
 * Builds the statement that reads the facts. The statement selects from `coherence_now`, which always has one row, so
 * it returns the position even if no fact is found. `coherence_history()` is called in a subquery, so that PostgreSQL
 * calls it once rather than for every row.
 *
 * The variants for API keys and for other facts are both written out in full. A statement joined from fragments would
 * survive two garbage collections, and that costs more time than the statement itself.
 */
function statement(sql: Sql, asked: Asked): PromiseLike<[Found, ...Found[]]> {
  if (areApiKeys(asked)) {
    return sql<[Found]>`
      select s.seq, (select coherence_history()) as incarnation,
        k.digest, api_key_shown(to_jsonb(k)) as key,
        to_jsonb(a) - '{name,metadata}'::text[] as account, to_jsonb(p) - '{name,metadata}'::text[] as parent,
        (select to_jsonb(l) from plan l where l.name = coalesce(p.plan, a.plan)) as plan
      from coherence_now s
        left join api_key k on k.digest = any (array(
          select decode(translate(name, '-_', '+/') || '=', 'base64')
          from jsonb_array_elements_text(${sql.json(asked.map(restOf))}) as asked(name)))
        left join account a on a.id = k.account_id left join account p on p.id = a.parent_id`;
  }
  const restsOf = (...kinds: readonly string[]): readonly string[] =>
    asked.filter((key) => kinds.includes(key.charAt(0))).map(restOf);
  const [ids, names, plans] = [restsOf('a', 'n'), restsOf('x'), restsOf('p')];
  const named = names.map((name) => [name.slice(0, uuidLength), name.slice(uuidLength + 1)]);
  return sql<[Found, ...Found[]]>`
    select s.seq, (select coherence_history()) as incarnation,
      to_jsonb(a) - '{name,metadata}'::text[] as account, to_jsonb(p) - '{name,metadata}'::text[] as parent,
      (select to_jsonb(l) from plan l where l.name = coalesce(p.plan, a.plan)) as plan,
      (select json_agg(l) from plan l
        where l.name = any (array(select name from jsonb_array_elements_text(${sql.json(plans)}) asked (name)))) as plans
    from coherence_now s
      left join account a on a.id = any (array(
        select id::uuid from jsonb_array_elements_text(${sql.json(ids)}) asked (id)
        union all
        select n.id from jsonb_array_elements(${sql.json(named)}) asked (pair)
          join account n on n.parent_id = (pair ->> 0)::uuid and n.external_id is not null and n.external_id = pair ->> 1))
      left join account p on p.id = a.parent_id`;
}

/** Removes the kind from a fact's name: `a:<id>` becomes `<id>`. */
function restOf(key: FactKey): string {
  return key.slice(2);
}

function areApiKeys(asked: Asked): asked is readonly ApiKeyName[] {
  return asked[0]?.startsWith('k:') ?? true;
}

const uuidLength = 36;

/** Adds the facts from an account's row: the account and, for a parent, its number of active sub-accounts. */
function addAccount(facts: Map<FactKey, FactValue>, account: AccountJson | null): void {
  if (!account) return;
  facts.set(factKey.account(account.id), {
    id: account.id,
    parentId: account.parent_id,
    externalId: account.external_id,
    status: account.deleted_at === null ? account.status : 'deleted',
    limits: account.plan === null ? limitsOf(account) : null,
    plan: account.plan === null ? null : { name: account.plan, own: toOwnLimits(account) },
  });
  if (account.active_sub_accounts !== null) {
    facts.set(factKey.activeSubAccounts(account.id), account.active_sub_accounts);
  }
}

function addPlan(facts: Map<FactKey, FactValue>, plan: PlanJson | null): void {
  if (plan) facts.set(factKey.plan(plan.name), { limits: toLimits(plan) });
}

function keyFact(key: NonNullable<Found['key']>): FactValue {
  return {
    keyId: key.id,
    accountId: key.account_id,
    scopes: key.scopes,
    expiresAtMs: key.expires_at === null ? null : Date.parse(key.expires_at),
    revoked: key.revoked_at !== null,
    limits: limitsOf(key),
    limitId: key.limit_id ?? key.id,
  };
}

/** Returns the limits in a row; `null` if it has none, like most accounts and keys. */
function limitsOf(row: LimitColumns): Limits | null {
  const limits = toLimits(row);
  return hasLimits(limits) ? limits : null;
}
