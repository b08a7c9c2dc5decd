import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type TString } from 'typebox';
import type { Config, LimitsConfig } from '../../config.ts';
import { parseAccountId, uuidV7, type AccountId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import type { Barrier } from '../../ports/barrier.ts';
import type { ChangedBy } from '../../ports/changes.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committed, TenantStore } from '../../ports/tenant-store.ts';
import { takesAway } from '../call-rates.ts';
import { claimantOf } from '../claimant.ts';
import type { CountChange } from '../guard.ts';
import {
  enforced,
  idempotencyClaim,
  notTaken,
  noteReplay,
  withinLimit,
  withinPairs,
} from '../rest/changes.ts';
import { sendDeleted } from '../rest/deletions.ts';
import { readGivenId } from '../rest/given-id.ts';
import { closed, noQuery, type RoutesWith } from '../rest/typebox.ts';
import { listBody, listQuery, listSubAccounts } from './listing.ts';
import {
  changeOf,
  limitsMember,
  subAccountBody,
  subAccountToBody,
  updateBody,
  type createBody,
  type givenIdBody,
} from './resource.ts';
import { warningsOf, type WarningDeps } from './warnings.ts';

/** Dependencies of {@link subAccountRoutes}. */
export interface SubAccountDeps extends WarningDeps {
  readonly tenants: TenantStore;
  readonly barrier: Barrier;
  readonly clock: Clock;
  /** Cryptographically secure source of random bytes. */
  readonly randomBytes: (size: number) => Uint8Array;
  readonly config: {
    readonly headers: Pick<Config['headers'], 'enforced'>;
    readonly limits: Pick<LimitsConfig, 'subAccountsPerParent'>;
  };
}

/** What differs between the routes of parents, which reach their own sub-accounts, and those of operators, which reach all. */
export interface SubAccountRules<Access> {
  /** Path of the list, below the prefix of the API. */
  readonly path: string;
  /** Parameters in `path`. */
  readonly params: Readonly<Record<string, TString>>;
  readonly createBody: typeof createBody | typeof givenIdBody;
  /** Returns the parent that a request is about. @throws ProblemError `not_found` if the path names none */
  readonly parent: (request: FastifyRequest) => AccountId;
  readonly caller: (request: FastifyRequest) => ChangedBy;
  readonly read: Access;
  readonly write: Access;
  readonly setStatus: Access;
  readonly countChange?: CountChange;
}

/** Adds the routes that create, list, get, update, deactivate, reactivate and delete sub-accounts (spec section 4). */
export function subAccountRoutes<Access>(routes: Routes<Access>): void {
  createRoute(routes);
  listRoute(routes);
  getRoute(routes);
  updateRoute(routes);
  statusRoute(routes, 'deactivate', 'deactivated');
  statusRoute(routes, 'reactivate', 'active');
  deleteRoute(routes);
}

/** Where the routes are added, and what they need. */
interface Routes<Access> {
  readonly app: RoutesWith<Access>;
  readonly deps: SubAccountDeps;
  readonly rules: SubAccountRules<Access>;
}

/** Waits until every replica enforces a change, and counts the change against the caller's rate. */
function enforce<T>(
  committed: Committed<T>,
  { deps: { barrier, config }, rules: { countChange } }: Pick<Routes<unknown>, 'deps' | 'rules'>,
  reply: FastifyReply,
): Promise<T> {
  return enforced(committed, barrier, reply, config.headers.enforced, countChange);
}

/** Returns the schema of the parameters in the path of one sub-account. */
function pathOf({ params }: Pick<SubAccountRules<unknown>, 'params'>) {
  return closed({ ...(params as object), sub_id: Type.String() });
}

/** Returns the ids of the sub-account that the path names and of its parent, parent first. */
function idsOf(
  request: FastifyRequest<{ Params: { readonly sub_id: string } }>,
  { parent }: Pick<SubAccountRules<unknown>, 'parent'>,
): readonly [parent: AccountId, id: AccountId] {
  return [parent(request), found(parseAccountId(request.params.sub_id), 'sub-account')];
}

function createRoute<Access>(routes: Routes<Access>): void {
  const { app, deps, rules } = routes;
  const { tenants, clock, randomBytes, config } = deps;

  app.post(
    rules.path,
    {
      schema: {
        params: closed(rules.params),
        querystring: noQuery,
        body: rules.createBody,
        response: { 201: subAccountBody },
      },
      config: rules.write,
    },
    async (request, reply) => {
      const caller = rules.caller(request);
      const claim = idempotencyClaim(request, claimantOf(caller));
      const parent = rules.parent(request);
      const { body } = request;
      const { name, external_id: externalId = null, metadata = {}, limits } = body;
      const id = uuidV7(clock.wallMs(), randomBytes(10)) as AccountId;
      const made = await tenants.createSubAccount(
        parent,
        {
          id,
          ...readGivenId('id' in body ? body.id : undefined),
          name,
          externalId,
          metadata,
          ...limitsMember(limits),
        },
        config.limits.subAccountsPerParent,
        claim,
        caller,
      );
      const committed = withinLimit(notTaken(made, 'sub_account'), 'sub-accounts');
      const account = await enforce(committed, routes, reply);
      noteReplay(reply, committed);
      reply.code(201);
      return { ...subAccountToBody(account), ...(await warningsOf(deps, parent, committed)) };
    },
  );
}

function listRoute<Access>({ app, deps: { tenants }, rules }: Routes<Access>): void {
  app.get(
    rules.path,
    {
      schema: { params: closed(rules.params), querystring: listQuery, response: { 200: listBody } },
      config: rules.read,
    },
    async (request) => {
      const parent = rules.parent(request);
      if ('operator' in rules.caller(request)) found(await tenants.getParent(parent), 'account');
      return listSubAccounts(tenants, parent, request.query);
    },
  );
}

function getRoute<Access>({ app, deps: { tenants }, rules }: Routes<Access>): void {
  app.get(
    `${rules.path}/:sub_id`,
    {
      schema: { params: pathOf(rules), querystring: noQuery, response: { 200: subAccountBody } },
      config: rules.read,
    },
    async (request) =>
      subAccountToBody(found(await tenants.getSubAccount(...idsOf(request, rules)), 'sub-account')),
  );
}

function updateRoute<Access>(routes: Routes<Access>): void {
  const { app, deps, rules } = routes;
  app.patch(
    `${rules.path}/:sub_id`,
    {
      schema: {
        params: pathOf(rules),
        querystring: noQuery,
        body: updateBody,
        response: { 200: subAccountBody },
      },
      config: rules.write,
    },
    async (request, reply) => {
      const [parent, id] = idsOf(request, rules);
      const change = changeOf(request.body);
      const changed = found(
        await deps.tenants.updateSubAccount(parent, id, change, rules.caller(request)),
        'sub-account',
      );
      const committed = notTaken(withinPairs(changed), 'sub_account');
      return subAccountToBody(await enforce(committed, routes, reply));
    },
  );
}

function statusRoute<Access>(
  routes: Routes<Access>,
  action: 'deactivate' | 'reactivate',
  status: 'deactivated' | 'active',
): void {
  const { app, deps, rules } = routes;
  app.post(
    `${rules.path}/:sub_id/${action}`,
    {
      schema: { params: pathOf(rules), querystring: noQuery, response: { 200: subAccountBody } },
      config: { ...rules.setStatus, action: true, ...(status === 'deactivated' && { takesAway }) },
    },
    async (request, reply) => {
      const caller = rules.caller(request);
      const claim = idempotencyClaim(request, claimantOf(caller));
      const [parent, id] = idsOf(request, rules);
      const committed = found(
        await deps.tenants.setSubAccountStatus(parent, id, status, claim, caller),
        'sub-account',
      );
      noteReplay(reply, committed);
      return subAccountToBody(await enforce(committed, routes, reply));
    },
  );
}

function deleteRoute<Access>(routes: Routes<Access>): void {
  const { app, deps, rules } = routes;
  app.delete(
    `${rules.path}/:sub_id`,
    {
      schema: { params: pathOf(rules), querystring: noQuery, response: { 204: Type.Null() } },
      config: { ...rules.write, action: true, takesAway },
    },
    async (request, reply) => {
      const [parent, id] = idsOf(request, rules);
      const deleted = await deps.tenants.deleteSubAccount(parent, id, rules.caller(request));
      const { enforced: header } = deps.config.headers;
      return sendDeleted(deleted, 'sub-account', reply, header, (committed) =>
        enforce(committed, routes, reply),
      );
    },
  );
}
