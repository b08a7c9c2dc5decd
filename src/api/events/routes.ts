import { Type } from 'typebox';
import { parseEventId } from '../../domain/ids.ts';
import { managementScopes } from '../../domain/scope.ts';
import { found } from '../../http/not-found.ts';
import type { ManagementDeps } from '../deps.ts';
import { callerOf } from '../guard.ts';
import { pageOf } from '../rest/paging.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import { eventQuery, listEvents } from './listing.ts';
import { eventBody, eventToParentBody } from './resource.ts';
import type { ManagementApp } from '../operations.ts';

const read = { scope: managementScopes.read };

/**
 * `GET /events` and `GET /events/{id}`: show the events of the parent and its sub-accounts, no matter whether the
 * parent, an operator or the system caused them.
 */
export function eventRoutes(app: ManagementApp, { events }: Pick<ManagementDeps, 'events'>): void {
  app.get(
    '/events',
    {
      schema: { querystring: closed(eventQuery), response: { 200: closed(pageOf(eventBody)) } },
      config: read,
    },
    (request) => listEvents(events, callerOf(request).accountId, request.query, eventToParentBody),
  );

  app.get(
    '/events/:event_id',
    {
      schema: {
        params: closed({ event_id: Type.String() }),
        querystring: noQuery,
        response: { 200: eventBody },
      },
      config: read,
    },
    async (request) => {
      const id = found(parseEventId(request.params.event_id), 'event');
      return eventToParentBody(found(await events.get(id, callerOf(request).accountId), 'event'));
    },
  );
}
