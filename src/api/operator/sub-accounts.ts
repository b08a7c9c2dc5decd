import { Type } from 'typebox';
import { parseAccountId, uuidV7, type AccountId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import { operatorCaller } from '../../ports/changes.ts';
import {
  enforced,
  idempotencyClaim,
  notTaken,
  noteReplay,
  withinLimit,
  withinPairs,
} from '../rest/changes.ts';

import { sendDeleted } from '../rest/deletions.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import { listBody, listQuery, listSubAccounts } from '../sub-accounts/listing.ts';
import {
  changeable,
  changeOf,
  creatable,
  limitsMember,
  subAccountBody,
  subAccountToBody,
  updateBody,
} from '../sub-accounts/resource.ts';
import { warningsOf } from '../sub-accounts/warnings.ts';
import type { AdminDeps } from './deps.ts';
import { givenId, readGivenId } from './given-id.ts';
import { operatorOf, type OperatorApp } from './operator-token.ts';

const path = closed({ account_id: Type.String() });
const childPath = closed({ account_id: Type.String(), sub_id: Type.String() });
const createBody = closed({ ...creatable, limits: changeable.limits, id: givenId });

/** Adds the routes that list, create, show, change, deactivate, reactivate and delete any parent's sub-accounts. */
export function subAccountRoutes(app: OperatorApp, deps: AdminDeps): void {
  listRoute(app, deps);
  createRoute(app, deps);
  getRoute(app, deps);
  updateRoute(app, deps);
  statusRoute(app, deps, 'deactivate', 'deactivated');
  statusRoute(app, deps, 'reactivate', 'active');
  deleteRoute(app, deps);
}

function listRoute(app: OperatorApp, { tenants }: AdminDeps): void {
  app.get(
    '/accounts/:account_id/sub-accounts',
    {
      schema: { params: path, querystring: listQuery, response: { 200: listBody } },
      config: { role: 'viewer' },
    },
    async (request) => {
      const parent = found(
        await tenants.getParent(found(parseAccountId(request.params.account_id), 'account')),
        'account',
      );
      return listSubAccounts(tenants, parent.id, request.query);
    },
  );
}

function createRoute(app: OperatorApp, deps: AdminDeps): void {
  const { tenants, barrier, clock, randomBytes, config } = deps;

  app.post(
    '/accounts/:account_id/sub-accounts',
    {
      schema: { params: path, querystring: noQuery, body: createBody, response: { 201: subAccountBody } },
      config: { role: 'admin' },
    },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const parent = found(parseAccountId(request.params.account_id), 'account');
      const { id: given, name, external_id: externalId = null, metadata = {}, limits } = request.body;
      const id = uuidV7(clock.wallMs(), randomBytes(10)) as AccountId;
      const made = await tenants.createSubAccount(
        parent,
        { id, ...readGivenId(given), name, externalId, metadata, ...limitsMember(limits) },
        config.limits.subAccountsPerParent,
        claim,
        operatorOf(request),
      );
      const committed = withinLimit(notTaken(made, 'sub_account'), 'sub-accounts');
      const account = await enforced(committed, barrier, reply, config.headers.enforced);
      noteReplay(reply, committed);
      reply.code(201);
      return { ...subAccountToBody(account), ...(await warningsOf(deps, parent, committed)) };
    },
  );
}

function getRoute(app: OperatorApp, { tenants }: AdminDeps): void {
  app.get(
    '/accounts/:account_id/sub-accounts/:sub_id',
    {
      schema: { params: childPath, querystring: noQuery, response: { 200: subAccountBody } },
      config: { role: 'viewer' },
    },
    async (request) => {
      const parent = found(parseAccountId(request.params.account_id), 'account');
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      return subAccountToBody(found(await tenants.getSubAccount(parent, id), 'sub-account'));
    },
  );
}

function updateRoute(app: OperatorApp, { tenants, barrier, config }: AdminDeps): void {
  app.patch(
    '/accounts/:account_id/sub-accounts/:sub_id',
    {
      schema: {
        params: childPath,
        querystring: noQuery,
        body: updateBody,
        response: { 200: subAccountBody },
      },
      config: { role: 'admin' },
    },
    async (request, reply) => {
      const parent = found(parseAccountId(request.params.account_id), 'account');
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      const changed = found(
        await tenants.updateSubAccount(parent, id, changeOf(request.body), operatorOf(request)),
        'sub-account',
      );
      const committed = notTaken(withinPairs(changed), 'sub_account');
      return subAccountToBody(await enforced(committed, barrier, reply, config.headers.enforced));
    },
  );
}

function statusRoute(
  app: OperatorApp,
  { tenants, barrier, config }: AdminDeps,
  action: 'deactivate' | 'reactivate',
  status: 'deactivated' | 'active',
): void {
  app.post(
    `/accounts/:account_id/sub-accounts/:sub_id/${action}`,
    {
      schema: { params: childPath, querystring: noQuery, response: { 200: subAccountBody } },
      config: { role: 'support', action: true },
    },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const parent = found(parseAccountId(request.params.account_id), 'account');
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      const committed = found(
        await tenants.setSubAccountStatus(parent, id, status, claim, operatorOf(request)),
        'sub-account',
      );
      noteReplay(reply, committed);
      return subAccountToBody(await enforced(committed, barrier, reply, config.headers.enforced));
    },
  );
}

function deleteRoute(app: OperatorApp, { tenants, barrier, config }: AdminDeps): void {
  app.delete(
    '/accounts/:account_id/sub-accounts/:sub_id',
    {
      schema: { params: childPath, querystring: noQuery, response: { 204: Type.Null() } },
      config: { role: 'admin', action: true },
    },
    async (request, reply) => {
      const parent = found(parseAccountId(request.params.account_id), 'account');
      const id = found(parseAccountId(request.params.sub_id), 'sub-account');
      const deleted = await tenants.deleteSubAccount(parent, id, operatorOf(request));
      const { enforced: header } = config.headers;
      return sendDeleted(deleted, 'sub-account', reply, header, (committed) =>
        enforced(committed, barrier, reply, header),
      );
    },
  );
}
