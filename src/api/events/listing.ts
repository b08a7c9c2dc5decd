import { Type } from 'typebox';
import { eventTypes, operatorEventTypes, type Event, type EventType } from '../../domain/event.ts';
import { parseEventId, type AccountId } from '../../domain/ids.ts';
import { instantFault, parseInstant } from '../../domain/rfc3339.ts';
import { invalidField } from '../../http/invalid-request.ts';
import type { EventFilter, EventStore } from '../../ports/events.ts';
import { pageQuery, readPage, writePage } from '../rest/paging.ts';
import { queryId } from '../rest/query-id.ts';

const commonQuery = {
  ...pageQuery(),
  sub_account_id: Type.Optional(Type.String()),
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
};

/** Query parameters for a list of a parent's events. */
export const eventQuery = { ...commonQuery, type: Type.Optional(Type.Enum([...eventTypes])) };

/** Query parameters for an operator's list of events. */
export const operatorEventQuery = {
  ...commonQuery,
  type: Type.Optional(Type.Enum([...operatorEventTypes])),
  account_id: Type.Optional(Type.String({ description: 'a parent account' })),
};

/** Query parameters as the client sent them. Only operators may send `account_id`. */
interface EventQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly type?: EventType;
  readonly account_id?: string;
  readonly sub_account_id?: string;
  readonly from?: string;
  readonly to?: string;
}

/**
 * Lists one page of events, newest first.
 *
 * @param parent parent that makes the call; `null` for an operator
 * @throws ProblemError `invalid_request` if a filter or the cursor is not valid
 */
export async function listEvents<Body>(
  events: Pick<EventStore, 'list'>,
  parent: AccountId | null,
  query: EventQuery,
  toBody: (event: Event) => Body,
): Promise<{ data: Body[]; has_more: boolean; next_cursor: string | null }> {
  const { type, account_id, sub_account_id, from, to } = query;
  const list = [
    'events',
    parent ?? 'all',
    type,
    account_id?.toLowerCase(),
    sub_account_id?.toLowerCase(),
    from,
    to,
  ];
  const page = readPage(query, list, (text) => parseEventId(text) !== undefined);
  const account = parent ?? queryId('account_id', account_id);
  const subAccount = queryId('sub_account_id', sub_account_id);
  const [fromMs, toMs] = [readInstant('from', from), readInstant('to', to)];
  if (fromMs !== undefined && toMs !== undefined && toMs <= fromMs)
    throw invalidField('?to', 'must be later than `from`.');
  const filter: EventFilter = {
    ...(type !== undefined && { type }),
    ...(account !== undefined && { account }),
    ...(subAccount !== undefined && { subAccount }),
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
  };
  return writePage(await events.list(filter, page, parent ?? undefined), list, ({ id }) => id, toBody);
}

function readInstant(name: string, text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : parseInstant(text);
  if (text !== undefined && ms === undefined) throw invalidField(`?${name}`, instantFault(text));
  return ms;
}
