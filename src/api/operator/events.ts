import { Type } from 'typebox';
import { parseEventId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import { listEvents, operatorEventQuery } from '../events/listing.ts';
import { eventToBody, operatorEventBody } from '../events/resource.ts';
import { pageOf } from '../rest/paging.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';
import type { OperatorApp } from './operator-token.ts';

const querystring = closed(operatorEventQuery);
const params = closed({ event_id: Type.String() });

/** `GET /events` and `GET /events/{id}`: show the events of any parent, including actor, request and address. */
export function operatorEventRoutes(app: OperatorApp, { events }: Pick<AdminDeps, 'events'>): void {
  app.get(
    '/events',
    {
      schema: { querystring, response: { 200: closed(pageOf(operatorEventBody)) } },
      config: { role: 'viewer' },
    },
    ({ query }) => listEvents(events, null, query, eventToBody),
  );

  app.get(
    '/events/:event_id',
    {
      schema: { params, querystring: noQuery, response: { 200: operatorEventBody } },
      config: { role: 'viewer' },
    },
    async (request) =>
      eventToBody(found(await events.get(found(parseEventId(request.params.event_id), 'event')), 'event')),
  );
}
