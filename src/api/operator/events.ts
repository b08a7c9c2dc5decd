import { Type } from 'typebox';
import { parseEventId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import { eventListBody, eventQuery, listEvents } from '../events/listing.ts';
import { eventBody, eventToBody } from '../events/resource.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';
import type { OperatorApp } from './operator-token.ts';

const querystring = closed({
  ...eventQuery,
  account_id: Type.Optional(Type.String({ description: 'a parent account' })),
});
const params = closed({ event_id: Type.String() });

/** `GET /events` and `GET /events/{id}`: show the events of any parent, including actor, request and address. */
export function operatorEventRoutes(app: OperatorApp, { events }: Pick<AdminDeps, 'events'>): void {
  app.get(
    '/events',
    { schema: { querystring, response: { 200: eventListBody } }, config: { role: 'viewer' } },
    ({ query }) => listEvents(events, null, query, eventToBody),
  );

  app.get(
    '/events/:event_id',
    { schema: { params, querystring: noQuery, response: { 200: eventBody } }, config: { role: 'viewer' } },
    async (request) =>
      eventToBody(found(await events.get(found(parseEventId(request.params.event_id), 'event')), 'event')),
  );
}
