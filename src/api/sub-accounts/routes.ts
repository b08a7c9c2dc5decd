import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { parseAccountId, uuidV7, type AccountId } from '../../domain/ids.ts';
import { managementScopes } from '../../domain/scope.ts';
import {
  enforced,
  idempotencyClaim,
  notTaken,
  noteReplay,
  withinLimit,
  withinPairs,
} from '../rest/changes.ts';
import { sendDeleted } from '../rest/deletions.ts';
import { found } from '../../http/not-found.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import type { Committed } from '../../ports/tenant-store.ts';
import { takesAway } from '../call-rates.ts';
import { callerOf, type CountChange } from '../guard.ts';
import type { ManagementDeps } from '../deps.ts';
import { listBody, listQuery, listSubAccounts } from './listing.ts';
import {
  changeOf,
  createBody,
  limitsMember,
  subAccountBody,
  subAccountToBody,
  updateBody,
} from './resource.ts';
import { warningsOf } from './warnings.ts';
import type { ManagementApp } from '../operations.ts';

const path = closed({ sub_id: Type.String() });
const read = { scope: managementScopes.read };
const write = { scope: managementScopes.write };

/** Adds the routes that create, list, get, update, deactivate, reactivate and delete sub-accounts (spec section 4). */
export function subAccountRoutes(app: ManagementApp, deps: ManagementDeps, countChange: CountChange): void {
  const { barrier, config } = deps;
  const enforce: Enforce = (committed, reply) =>
    enforced(committed, barrier, reply, config.headers.enforced, countChange);
  createRoute(app, deps, enforce);
  listRoute(app, deps);
  getRoute(app, deps);
  updateRoute(app, deps, enforce);
  statusRoute(app, deps, enforce, 'deactivate', 'deactivated');
  statusRoute(app, deps, enforce, 'reactivate', 'active');
  deleteRoute(app, deps, enforce);
}

/**
 * Calls {@link enforced} with the gateway's barrier and the name of the receipt header. The change counts against the
 * parent's rate limit.
 */
type Enforce = <T>(committed: Committed<T>, reply: FastifyReply) => Promise<T>;

function createRoute(app: ManagementApp, deps: ManagementDeps, enforce: Enforce): void {
  const { tenants, clock, randomBytes, config } = deps;

  app.post(
    '',
    { schema: { querystring: noQuery, body: createBody, response: { 201: subAccountBody } }, config: write },
    async (request, reply) => {
      const caller = callerOf(request);
      const { accountId } = caller;
      const claim = idempotencyClaim(request, caller.keyId);
      const { name, external_id: externalId = null, metadata = {}, limits } = request.body;
      const id = uuidV7(clock.wallMs(), randomBytes(10)) as AccountId;
      const made = await tenants.createSubAccount(
        accountId,
        { id, name, externalId, metadata, ...limitsMember(limits) },
        config.limits.subAccountsPerParent,
        claim,
        caller,
      );
      const committed = withinLimit(notTaken(made, 'sub_account'), 'sub-accounts');
      const account = await enforce(committed, reply);
      noteReplay(reply, committed);
      reply.code(201);
      return { ...subAccountToBody(account), ...(await warningsOf(deps, accountId, committed)) };
    },
  );
}

function listRoute(app: ManagementApp, { tenants }: ManagementDeps): void {
  app.get(
    '',
    { schema: { querystring: listQuery, response: { 200: listBody } }, config: read },
    async (request) => listSubAccounts(tenants, callerOf(request).accountId, request.query),
  );
}

function getRoute(app: ManagementApp, { tenants }: ManagementDeps): void {
  app.get(
    '/:sub_id',
    { schema: { params: path, querystring: noQuery, response: { 200: subAccountBody } }, config: read },
    async (request) => {
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      return subAccountToBody(
        found(await tenants.getSubAccount(callerOf(request).accountId, id), 'sub-account'),
      );
    },
  );
}

function updateRoute(app: ManagementApp, { tenants }: ManagementDeps, enforce: Enforce): void {
  app.patch(
    '/:sub_id',
    {
      schema: { params: path, querystring: noQuery, body: updateBody, response: { 200: subAccountBody } },
      config: write,
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      const changed = found(
        await tenants.updateSubAccount(caller.accountId, id, changeOf(request.body), caller),
        'sub-account',
      );
      const account = await enforce(notTaken(withinPairs(changed), 'sub_account'), reply);
      return subAccountToBody(account);
    },
  );
}

function statusRoute(
  app: ManagementApp,
  { tenants }: ManagementDeps,
  enforce: Enforce,
  action: 'deactivate' | 'reactivate',
  status: 'deactivated' | 'active',
): void {
  app.post(
    `/:sub_id/${action}`,
    {
      schema: { params: path, querystring: noQuery, response: { 200: subAccountBody } },
      config: { ...write, action: true, ...(status === 'deactivated' && { takesAway }) },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const claim = idempotencyClaim(request, caller.keyId);
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      const committed = found(
        await tenants.setSubAccountStatus(caller.accountId, id, status, claim, caller),
        'sub-account',
      );
      noteReplay(reply, committed);
      return subAccountToBody(await enforce(committed, reply));
    },
  );
}

function deleteRoute(app: ManagementApp, { tenants, config }: ManagementDeps, enforce: Enforce): void {
  app.delete(
    '/:sub_id',
    {
      schema: { params: path, querystring: noQuery, response: { 204: Type.Null() } },
      config: { ...write, action: true, takesAway },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      const deleted = await tenants.deleteSubAccount(caller.accountId, id, caller);
      const { enforced: header } = config.headers;
      return sendDeleted(deleted, 'sub-account', reply, header, (committed) => enforce(committed, reply));
    },
  );
}
