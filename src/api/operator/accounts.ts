import { Type, type Static } from 'typebox';
import { parseAccountId, uuidV7, type AccountId } from '../../domain/ids.ts';
import { planNamePattern } from '../../domain/limits/plan.ts';
import { found } from '../../http/not-found.ts';
import { operatorCaller } from '../../ports/changes.ts';
import type { ParentFilter } from '../../ports/tenant-store.ts';
import { enforced, idempotencyClaim, notTaken, noteReplay, withinPairs, withPlan } from '../rest/changes.ts';
import { pageOf, pageQuery, readPage, writePage, type ListName } from '../rest/paging.ts';
import { queryId } from '../rest/query-id.ts';
import { closed, noQuery } from '../rest/typebox.ts';
import { near } from '../sub-accounts/listing.ts';
import { creatable, externalId, nameStart } from '../sub-accounts/resource.ts';
import {
  accountBody,
  accountToBody,
  parentChangeOf,
  parentStatuses,
  planName,
  updateBody,
} from './account-body.ts';
import type { AdminDeps } from './deps.ts';
import { givenId, readGivenId } from '../rest/given-id.ts';
import { operatorOf, type OperatorApp } from './operator-token.ts';

const path = closed({ account_id: Type.String() });

const createBody = closed({ ...creatable, id: givenId, plan: Type.Optional(planName) });
const listQuery = closed({
  ...pageQuery(),
  status: Type.Optional(Type.Enum([...parentStatuses])),
  external_id: Type.Optional(Type.String(externalId)),
  q: Type.Optional(nameStart),
  sub_account_id: Type.Optional(Type.String()),
  plan: Type.Optional(Type.String({ pattern: planNamePattern, description: 'the name of a plan' })),
  near,
});

/** Adds the routes that create, list, get, change, suspend and resume parent accounts. */
export function accountRoutes(app: OperatorApp, deps: AdminDeps): void {
  createRoute(app, deps);
  listRoute(app, deps);
  getRoute(app, deps);
  updateRoute(app, deps);
  statusRoute(app, deps, 'suspend', 'suspended');
  statusRoute(app, deps, 'resume', 'active');
}

function createRoute(app: OperatorApp, { tenants, barrier, clock, randomBytes, config }: AdminDeps): void {
  app.post(
    '/accounts',
    {
      schema: { querystring: noQuery, body: createBody, response: { 201: accountBody } },
      config: { role: 'admin' },
    },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const { id: given, name, external_id: externalId = null, metadata = {}, plan = null } = request.body;
      const id = readGivenId(given)?.id ?? (uuidV7(clock.wallMs(), randomBytes(10)) as AccountId);
      const draft = { id, name, externalId, metadata, plan };
      const made = await tenants.createParent(draft, claim, operatorOf(request));
      const committed = notTaken(withPlan(made), 'account');
      const account = await enforced(committed, barrier, reply, config.headers.enforced);
      noteReplay(reply, committed);
      reply.code(201);
      return accountToBody(account);
    },
  );
}

function listRoute(app: OperatorApp, { tenants }: AdminDeps): void {
  app.get(
    '/accounts',
    {
      schema: { querystring: listQuery, response: { 200: closed(pageOf(accountBody)) } },
      config: { role: 'viewer' },
    },
    async ({ query }) => {
      const filter = filterOf(query);
      const list = listName(filter);
      const asked = readPage(query, list);
      return writePage(await tenants.listParents(filter, asked), list, ({ id }) => id, accountToBody);
    },
  );
}

function getRoute(app: OperatorApp, { tenants }: AdminDeps): void {
  app.get(
    '/accounts/:account_id',
    {
      schema: { params: path, querystring: noQuery, response: { 200: accountBody } },
      config: { role: 'viewer' },
    },
    async (request) =>
      accountToBody(
        found(
          await tenants.getParent(found(parseAccountId(request.params.account_id), 'account')),
          'account',
        ),
      ),
  );
}

function updateRoute(app: OperatorApp, { tenants, barrier, config }: AdminDeps): void {
  app.patch(
    '/accounts/:account_id',
    {
      schema: { params: path, querystring: noQuery, body: updateBody, response: { 200: accountBody } },
      config: { role: 'admin' },
    },
    async (request, reply) => {
      const id = found(parseAccountId(request.params.account_id), 'account');
      const changed = found(
        await tenants.updateParent(id, parentChangeOf(request.body), operatorOf(request)),
        'account',
      );
      const committed = notTaken(withPlan(withinPairs(changed)), 'account');
      return accountToBody(await enforced(committed, barrier, reply, config.headers.enforced));
    },
  );
}

function statusRoute(
  app: OperatorApp,
  { tenants, barrier, config }: AdminDeps,
  action: 'suspend' | 'resume',
  status: 'suspended' | 'active',
): void {
  app.post(
    `/accounts/:account_id/${action}`,
    {
      schema: { params: path, querystring: noQuery, response: { 200: accountBody } },
      config: { role: 'support', action: true },
    },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const id = found(parseAccountId(request.params.account_id), 'account');
      const committed = found(
        await tenants.setParentStatus(id, status, claim, operatorOf(request)),
        'account',
      );
      noteReplay(reply, committed);
      return accountToBody(await enforced(committed, barrier, reply, config.headers.enforced));
    },
  );
}

function filterOf(query: Static<typeof listQuery>): ParentFilter {
  const { status, external_id: externalId, q: nameStart, sub_account_id: sub, plan, near } = query;
  const subAccount = queryId('sub_account_id', sub);
  return {
    ...(status && { status }),
    ...(externalId && { externalId }),
    ...(nameStart && { nameStart }),
    ...(subAccount && { subAccount }),
    ...(plan && { plan }),
    ...(near !== undefined && { near }),
  };
}

/** Returns the name of a list, which contains its filters. */
function listName({ status, externalId, nameStart, subAccount, plan, near }: ParentFilter): ListName {
  return [
    'accounts',
    status,
    externalId,
    nameStart,
    subAccount,
    plan === undefined ? undefined : `plan ${plan}`,
    near === undefined ? undefined : `near ${near}`,
  ];
}
