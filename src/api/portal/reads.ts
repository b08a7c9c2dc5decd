import { Type } from 'typebox';
import type { FastifyRequest } from 'fastify';
import type { Event } from '../../domain/event.ts';
import { parseAccountId } from '../../domain/ids.ts';
import { noSuch } from '../../domain/no-such.ts';
import { ProblemError } from '../../domain/problem.ts';
import { found } from '../../http/not-found.ts';
import type { ManagementDeps } from '../deps.ts';
import { eventQuery, listEvents } from '../events/listing.ts';
import { eventBody, eventToParentBody } from '../events/resource.ts';
import { pageOf, pageQuery } from '../rest/paging.ts';
import { closed, noQuery, nullableText, timestamp } from '../rest/typebox.ts';
import { limitsInForceBody, limitsOfSubAccount, limitsQuery } from '../sub-accounts/limits.ts';
import { listSubAccounts } from '../sub-accounts/listing.ts';
import { nameStart, statuses, subAccountToBody } from '../sub-accounts/resource.ts';
import { usageReport } from '../usage/report.ts';
import { sessionOf, type PortalApp } from './portal-guard.ts';

/** A sub-account in the portal. Metadata and limits are notes and rules of the parent, so they are left out. */
const subAccountBody = closed({
  id: Type.String(),
  name: Type.String(),
  external_id: nullableText(),
  status: Type.Enum([...statuses]),
  created_at: timestamp,
});

const subPath = closed({ sub_id: Type.String() });

/** Dependencies of {@link portalReads}. */
export type PortalReadDeps = Pick<
  ManagementDeps,
  'config' | 'tenants' | 'events' | 'usage' | 'clock' | 'rateLimiter' | 'directory'
>;

/** Adds the routes that show sub-accounts, their limits, usage and events. */
export function portalReads(app: PortalApp, deps: PortalReadDeps): void {
  subAccountRoutes(app, deps);
  limitsRoute(app, deps);
  usageRoute(app, deps);
  eventRoute(app, deps);
}

function subAccountRoutes(app: PortalApp, { tenants }: PortalReadDeps): void {
  const querystring = closed({
    ...pageQuery(),
    q: Type.Optional(nameStart),
    status: Type.Optional(Type.Enum([...statuses])),
  });
  app.get(
    '/sub-accounts',
    {
      schema: { querystring, response: { 200: closed(pageOf(subAccountBody)) } },
      config: { permission: 'sub_accounts:read' },
    },
    async (request) => {
      const { account, subAccount } = sessionOf(request);
      if (subAccount === null) return listSubAccounts(tenants, account.id, request.query);
      const only = found(await tenants.getSubAccount(account.id, subAccount.id), 'sub-account');
      return { data: [subAccountToBody(only)], has_more: false, next_cursor: null };
    },
  );
  app.get(
    '/sub-accounts/:sub_id',
    {
      schema: { params: subPath, querystring: noQuery, response: { 200: subAccountBody } },
      config: { permission: 'sub_accounts:read' },
    },
    async (request) => {
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      return subAccountToBody(
        found(await tenants.getSubAccount(sessionOf(request).account.id, id), 'sub-account'),
      );
    },
  );
}

function limitsRoute(app: PortalApp, deps: PortalReadDeps): void {
  app.get(
    '/sub-accounts/:sub_id/limits',
    {
      schema: { params: subPath, querystring: limitsQuery, response: { 200: limitsInForceBody } },
      config: { permission: 'usage:read' },
    },
    async (request) => {
      const { account, subAccount } = sessionOf(request);
      const limits = await limitsOfSubAccount(account.id, request.params, request.query, deps);
      // All sub-accounts use the parent's limits, so what is left of them is no business of one of them.
      return { data: limits.filter(({ limited }) => subAccount === null || limited !== 'parent') };
    },
  );
}

function usageRoute(app: PortalApp, deps: PortalReadDeps): void {
  app.get('/usage', { schema: usageReport.schema, config: { permission: 'usage:read' } }, (request) =>
    usageReport.read(deps, sessionOf(request).account.id, seen(request, request.query)),
  );
}

function eventRoute(app: PortalApp, { events }: PortalReadDeps): void {
  app.get(
    '/events',
    {
      schema: { querystring: closed(eventQuery), response: { 200: closed(pageOf(eventBody)) } },
      config: { permission: 'events:read' },
    },
    (request) => {
      const { id, account, subAccount } = sessionOf(request);
      const toBody = (event: Event): ReturnType<typeof eventToParentBody> =>
        subAccount === null ? eventToParentBody(event) : eventToSubAccountBody(event, id);
      return listEvents(events, account.id, seen(request, request.query), toBody);
    },
  );
}

/**
 * Narrows a query to the sub-account of the session, if it has one.
 *
 * @throws ProblemError `not_found` if the query names another one
 */
function seen<Query extends { readonly sub_account_id?: string }>(
  request: FastifyRequest,
  query: Query,
): Query {
  const { subAccount } = sessionOf(request);
  if (subAccount === null) return query;
  const { sub_account_id: asked } = query;
  if (asked !== undefined && parseAccountId(asked) !== subAccount.id)
    throw new ProblemError(noSuch('sub-account'));
  return { ...query, sub_account_id: subAccount.id };
}

/**
 * An event as the people of one sub-account see it: without metadata and limits, and, unless it happened in their own
 * session, without who did it and from where, because a person of the parent may have done it.
 */
function eventToSubAccountBody(event: Event, sessionId: string): ReturnType<typeof eventToParentBody> {
  const body = eventToParentBody(event);
  const { object, previous } = body.data;
  const data = { object: withoutNotes(object), previous: previous && withoutNotes(previous) };
  if (event.actor.portal?.sessionId === sessionId)
    return { ...body, data, actor: { ...body.actor, key_id: null, name: null } };
  const actor = { kind: body.actor.kind, key_id: null, name: null };
  return { ...body, data, actor, request_id: null, address: null };
}

function withoutNotes({
  metadata: _metadata,
  limits: _limits,
  ...members
}: Readonly<Record<string, unknown>>) {
  return members;
}
