import type { AccountId } from '../../../domain/ids.ts';
import type { UsageQuery } from '../../../ports/usage.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';
import { aboveEveryId } from '../page.ts';

/**
 * Account whose usage is in a report. This is a type alias because postgres.js does not accept an interface as JSON.
 */
type Account = {
  readonly account_id: AccountId;
  /** Parent of the account, or the account itself if it is a parent. */
  readonly root_id: AccountId;
};

/** The part of a report's accounts that one statement reads. */
export interface Portion {
  readonly accounts: readonly Account[];
  /**
   * Parent whose accounts may continue in the next portion. The parent's lines must then add up the accounts of both
   * portions. `null` if this portion does not end in the middle of a parent, or if the report does not group by parent.
   */
  readonly continued: AccountId | null;
}

/** Iterates over the accounts in a report, in the report's order. */
export interface AccountsOfReport {
  /** Returns the next accounts, roughly `most` of them; `null` after the last. */
  next(most: number): Promise<Portion | null>;
}

interface Parts {
  readonly db: Runner;
  /** Parent that the report is for; `null` for all accounts. */
  readonly parent: AccountId | null;
  readonly query: Pick<UsageQuery, 'groupBy' | 'account'>;
  /**
   * Account whose line was the last on the previous page. This page begins at the same account, because more of its
   * lines may follow. `null` for the first page.
   */
  readonly from: AccountId | null;
}

/** Account from which a descending list continues. */
interface Edge {
  readonly id: AccountId;
  readonly inclusive: boolean;
}

/**
 * Lists the report's accounts in descending order of id. If the report groups by parent, each parent's accounts are
 * listed together.
 */
export function accountsOfReport(parts: Parts): AccountsOfReport {
  const { query, parent, from } = parts;
  if (query.account !== undefined) return oneAccount(parts, query.account);
  const edge = from === null ? top : { id: from, inclusive: true };
  if (query.groupBy !== 'account') return listed(parts, parent, edge);
  return parent === null ? byParent(parts, edge) : oneParent(parts, parent);
}

const top: Edge = { id: aboveEveryId as AccountId, inclusive: false };

function oneAccount({ db, parent }: Parts, id: AccountId): AccountsOfReport {
  const under = parent ?? undefined;
  return once(() =>
    db.run(
      (sql) => sql<Account[]>`
        select id as account_id, coalesce(parent_id, id) as root_id from account
        where id = ${id} ${parent === null ? sql`` : sql`and coalesce(parent_id, id) = ${parent}`}`,
      under,
    ),
  );
}

/** Lists the accounts of `parent` and the parent itself, or all accounts if `parent` is `null`. */
function listed({ db }: Pick<Parts, 'db'>, parent: AccountId | null, first: Edge): AccountsOfReport {
  let edge: Edge | null = first;
  return {
    async next(most) {
      if (edge === null) return null;
      const from: Edge = edge;
      const accounts = await db.run(
        (sql) => (parent === null ? anyAccounts(sql, from, most) : accountsOf(sql, parent, from, most)),
        parent ?? undefined,
      );
      const last = accounts.at(-1);
      edge = last === undefined || accounts.length < most ? null : { id: last.account_id, inclusive: false };
      return { accounts, continued: null };
    },
  };
}

function oneParent(parts: Pick<Parts, 'db'>, parent: AccountId): AccountsOfReport {
  const accounts = listed(parts, parent, top);
  return {
    async next(most) {
      const portion = await accounts.next(most);
      return portion && { ...portion, continued: portion.accounts.length < most ? null : parent };
    },
  };
}

/** Lists accounts by parent. Small parents share a portion; a large parent's accounts take several portions. */
function byParent({ db }: Pick<Parts, 'db'>, first: Edge): AccountsOfReport {
  let edge: Edge | null = first;
  let large: AccountsOfReport | null = null;
  return {
    async next(most) {
      const more: Portion | null = (await large?.next(most)) ?? null;
      if (more !== null) return more;
      large = null;
      if (edge === null) return null;
      const from: Edge = edge;
      const parents = await db.run((sql) => parentsFrom(sql, from, most));
      const together = leading(parents, most);
      const last = together.at(-1);
      edge = last === undefined ? null : { id: last.id, inclusive: false };
      if (last === undefined) return null;
      if (together.length === 1 && last.accounts > most) {
        large = oneParent({ db }, last.id);
        return large.next(most);
      }
      const ids = together.map(({ id }) => id);
      return { accounts: await db.run((sql) => accountsUnder(sql, ids)), continued: null };
    },
  };
}

/** Returns the longest leading part of `parents` with at most `most` accounts in total, but at least one parent. */
function leading(parents: readonly Parent[], most: number): readonly Parent[] {
  let sum = 0;
  const end = parents.findIndex(({ accounts }, i) => (sum += accounts) > most && i > 0);
  return end === -1 ? parents : parents.slice(0, end);
}

function once(read: () => Promise<readonly Account[]>): AccountsOfReport {
  let done = false;
  return {
    async next() {
      if (done) return null;
      done = true;
      return { accounts: await read(), continued: null };
    },
  };
}

function anyAccounts(sql: Sql, { id, inclusive }: Edge, most: number): PromiseLike<readonly Account[]> {
  return sql<Account[]>`
    select id as account_id, coalesce(parent_id, id) as root_id from account
    where id ${inclusive ? sql`<=` : sql`<`} ${id} order by id desc limit ${most}`;
}

/**
 * Reads accounts of `parent`, and the parent itself, in descending order of id. The statement compares the pair
 * (parent, id), so that PostgreSQL reads a range of one index; `aboveEveryId` in `page.ts` explains why.
 */
function accountsOf(
  sql: Sql,
  parent: AccountId,
  { id, inclusive }: Edge,
  most: number,
): PromiseLike<readonly Account[]> {
  const below = inclusive ? sql`<=` : sql`<`;
  return sql<Account[]>`
    select id as account_id, ${parent}::uuid as root_id from (
      (
        select id from account where parent_id >= ${parent} and (parent_id, id) ${below} (${parent}, ${id})
        order by parent_id desc, id desc limit ${most}
      )
      union all
      select id from account where id = ${parent} and id ${below} ${id}
    ) a
    order by id desc limit ${most}`;
}

interface Parent {
  readonly id: AccountId;
  /** Number of the parent's sub-accounts, deleted ones included, plus one for the parent itself. */
  readonly accounts: number;
}

function parentsFrom(sql: Sql, { id, inclusive }: Edge, most: number): PromiseLike<readonly Parent[]> {
  return sql<Parent[]>`
    select id, sub_accounts + 1 + (select count(*)::int from erasure e where e.parent_id = account.id) as accounts
    from account
    where parent_id is null and id ${inclusive ? sql`<=` : sql`<`} ${id} order by id desc limit ${most}`;
}

function accountsUnder(sql: Sql, parents: readonly AccountId[]): PromiseLike<readonly Account[]> {
  return sql<Account[]>`
    select s.id as account_id, p.id as root_id
    from (select jsonb_array_elements_text(${sql.json(parents)})::uuid as id) p
      cross join lateral (select p.id union all select id from account where parent_id = p.id) s (id)`;
}
