import type { Event, EventActor, EventSubject, EventType, QuotaUse } from '../../../domain/event.ts';
import type { AccountId, EventId, KeyId } from '../../../domain/ids.ts';
import type { EventFilter, EventStore } from '../../../ports/events.ts';
import type { PageQuery } from '../../../ports/tenant-store.ts';
import type { Runner } from '../connection/pool.ts';
import type { Sql } from '../connection/sql.ts';
import { aboveEveryId, pageOf } from '../page.ts';
import { toPlan, type PlanRow } from '../tenants/plans.ts';
import { toApiKey, toParent, toSubAccount, type AccountRow, type KeyRow } from '../tenants/rows.ts';

/** A row of `event`. */
interface EventRow {
  readonly id: EventId;
  /** The nil UUID if the event is about a plan. */
  readonly account_id: AccountId;
  readonly sub_account_id: AccountId | null;
  readonly type: EventType;
  readonly created_at: Date;
  readonly actor_kind: EventActor['kind'];
  readonly actor_key_id: KeyId | null;
  readonly actor_name: string | null;
  readonly actor_session_id: string | null;
  readonly actor_user: string | null;
  readonly request_id: string | null;
  readonly address: string | null;
  /** Account, key or plan row after the change, or a {@link QuotaRow}. Rows written by older versions may lack columns. */
  readonly object: object;
  readonly previous: object | null;
}

/**
 * Events in PostgreSQL. Functions in `schema/functions/events/` write the events for changes, and `quota_note` writes
 * those for quotas.
 *
 * @param reports runs the statements of `list`: their filter may skip many rows, and changes must not wait for that
 * @param background runs statements that no request waits for
 */
export function eventStore(db: Runner, reports: Runner, background: Runner): EventStore {
  return {
    async list(filter, page, tenant) {
      const rows = await reports.run((sql) => listEvents(sql, filter, page), tenant);
      return pageOf(rows, page.limit, toEvent);
    },

    async get(id, account) {
      const [row] = await db.run(
        (sql) => sql<EventRow[]>`
          select * from event
          where id = ${id} ${account === undefined ? sql`` : sql`and account_id = ${account}`}`,
        account,
      );
      return row ? toEvent(row) : null;
    },

    async prune({ nowMs, days, most }) {
      const before = new Date(nowMs - days * dayMs);
      const [pruned] = await background.run(
        (sql) => sql<[{ readonly deleted: number; readonly more: boolean }]>`
          select deleted, more from event_prune(${before}, ${days}, ${most})`,
      );
      return pruned;
    },
  };
}

const dayMs = 86_400_000;

/**
 * Lists the events on a page, plus the first event of the next page, if any. The query reads a range of an index;
 * `aboveEveryId` in `page.ts` explains how. From the range alone, PostgreSQL does not conclude that `sub_account_id` is not
 * null, as it is in indexes of sub-accounts.
 */
function listEvents(
  sql: Sql,
  filter: EventFilter,
  { limit, after }: PageQuery,
): PromiseLike<readonly EventRow[]> {
  const { type, account, subAccount, fromMs, toMs } = filter;
  const least = firstIdOf(fromMs ?? 0);
  const below = earlier(after ?? aboveEveryId, toMs === undefined ? aboveEveryId : firstIdOf(toMs));
  const owner = subAccount ?? account;
  const index = [
    ...(owner === undefined ? [] : [subAccount === undefined ? 'account_id' : 'sub_account_id']),
    ...(type === undefined ? [] : ['type']),
    'id',
  ];
  const position = (id: string) =>
    [type, owner].reduce((rest, value) => (value === undefined ? rest : sql`${value}, ${rest}`), sql`${id}`);
  return sql<EventRow[]>`
    select * from event
    where (${sql(index)}) >= (${position(least)}) and (${sql(index)}) < (${position(below)})
      ${subAccount === undefined ? sql`` : sql`and sub_account_id is not null`}
      ${subAccount === undefined || account === undefined ? sql`` : sql`and account_id = ${account}`}
    order by ${sql.unsafe(index.map((column) => `${column} desc`).join(', '))} limit ${limit + 1}`;
}

/** Returns the lower of two ids. As text, ids sort in the same order as UUIDs. */
function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

/** Returns the lowest id that an event in this millisecond can have, like `event_floor`. */
function firstIdOf(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

function actorOf(row: EventRow): EventActor {
  const { actor_session_id: sessionId } = row;
  return {
    kind: row.actor_kind,
    keyId: row.actor_key_id,
    name: row.actor_name,
    ...(sessionId !== null && { portal: { sessionId, user: row.actor_user } }),
  };
}

function toEvent(row: EventRow): Event {
  return {
    id: row.id,
    type: row.type,
    createdAt: row.created_at,
    accountId: row.account_id === noAccount ? null : row.account_id,
    subAccountId: row.sub_account_id,
    actor: actorOf(row),
    requestId: row.request_id,
    address: row.address,
    subject: subjectOf(row),
  };
}

const noAccount = '00000000-0000-0000-0000-000000000000';

/** The `object` of an event that `quota_note` writes. */
interface QuotaRow {
  readonly period: QuotaUse['period'];
  readonly unit: QuotaUse['unit'];
  readonly quota: number;
  readonly used: number;
  readonly starts_at: string;
}

function toQuotaUse({ period, unit, quota, used, starts_at }: QuotaRow): QuotaUse {
  return { period, unit, quota, used, startsAt: new Date(starts_at) };
}

function subjectOf({ type, object, previous }: EventRow): EventSubject {
  const before = previous && { ...object, ...previous };
  const [kind] = type.split('.');
  switch (kind) {
    case 'account':
      return {
        kind,
        after: toParent(object as AccountRow),
        before: before && toParent(before as AccountRow),
      };
    case 'sub_account':
      return {
        kind,
        after: toSubAccount(object as AccountRow),
        before: before && toSubAccount(before as AccountRow),
      };
    case 'quota':
      return { kind, after: toQuotaUse(object as QuotaRow), before: null };
    case 'plan':
      return { kind, after: toPlan(object as PlanRow), before: before && toPlan(before as PlanRow) };
    default:
      return {
        kind: 'api_key',
        after: toApiKey(object as KeyRow),
        before: before && toApiKey(before as KeyRow),
      };
  }
}
