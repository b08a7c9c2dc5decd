import { Type, type Static } from 'typebox';
import type { ParentAccount } from '../../domain/account.ts';
import { parseAccountId, uuidV7, type AccountId } from '../../domain/ids.ts';
import { found, notTaken } from '../../http/not-found.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { operatorCaller, type ParentFilter } from '../../ports/tenant-store.ts';
import { readAccountPage, writeAccountPage } from '../rest/account-pages.ts';
import { idempotencyClaim, noteReplay } from '../rest/idempotency.ts';
import { pageOf, pageQuery, type ListName } from '../rest/pages.ts';
import { enforced } from '../rest/receipt.ts';
import { closed, noQuery, nullableText, timestamp, type TypedApp } from '../rest/typebox.ts';
import {
  changeable,
  changeOf,
  creatable,
  externalId,
  metadataBody,
  nameStart,
} from '../sub-accounts/resource.ts';
import type { AdminDeps } from './deps.ts';
import { givenId, readGivenId } from './given-id.ts';

const path = closed({ account_id: Type.String() });
const statuses = ['active', 'suspended'] as const;

const accountBody = closed({
  id: Type.String(),
  name: Type.String(),
  external_id: nullableText(),
  status: Type.Enum([...statuses]),
  metadata: metadataBody,
  active_sub_accounts: Type.Integer(),
  created_at: timestamp,
  updated_at: timestamp,
});

const createBody = closed({ ...creatable, id: givenId });
const updateBody = closed(
  {
    ...changeable,
    status: Type.Optional(
      Type.Unsafe<never>({ not: {}, description: 'changes by POST to …/suspend and …/resume alone.' }),
    ),
  },
  { minProperties: 1 },
);
const listQuery = closed({
  ...pageQuery(),
  status: Type.Optional(Type.Enum([...statuses])),
  external_id: Type.Optional(Type.String(externalId)),
  q: Type.Optional(nameStart),
});

/** Create, list, get, change, suspend and resume parent accounts: a list of routes, one after the other. */
export function accountRoutes(app: TypedApp, deps: AdminDeps): void {
  const { tenants, barrier, clock, randomBytes, config } = deps;

  app.post(
    '/accounts',
    { schema: { querystring: noQuery, body: createBody, response: { 201: accountBody } } },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const { id: given, name, external_id: externalId = null, metadata = {} } = request.body;
      const id = readGivenId(given)?.id ?? (uuidV7(clock.wallMs(), randomBytes(10)) as AccountId);
      const made = await tenants.createParent({ id, name, externalId, metadata }, claim);
      const committed = notTaken(made, 'account');
      const account = await enforced(committed, barrier, reply, config.headers.enforced);
      noteReplay(reply, committed);
      reply.code(201);
      return toBody(account);
    },
  );

  app.get(
    '/accounts',
    { schema: { querystring: listQuery, response: { 200: closed(pageOf(accountBody)) } } },
    async ({ query }) => {
      const filter = filterOf(query);
      const list = listName(filter);
      const asked = readAccountPage(query, list);
      return writeAccountPage(await tenants.listParents(filter, asked), list, asked, toBody);
    },
  );

  app.get(
    '/accounts/:account_id',
    { schema: { params: path, querystring: noQuery, response: { 200: accountBody } } },
    async (request) =>
      toBody(found(await tenants.getParent(found(parseAccountId(request.params.account_id))))),
  );

  app.patch(
    '/accounts/:account_id',
    { schema: { params: path, querystring: noQuery, body: updateBody, response: { 200: accountBody } } },
    async (request, reply) => {
      const id = found(parseAccountId(request.params.account_id));
      const changed = found(await tenants.updateParent(id, changeOf(request.body)));
      if (changed === 'too-many-pairs') throw invalidField('/metadata', 'would hold more than 16 pairs.');
      const committed = notTaken(changed, 'account');
      return toBody(await enforced(committed, barrier, reply, config.headers.enforced));
    },
  );

  for (const [action, status] of [
    ['suspend', 'suspended'],
    ['resume', 'active'],
  ] as const) {
    app.post(
      `/accounts/:account_id/${action}`,
      {
        schema: { params: path, querystring: noQuery, response: { 200: accountBody } },
        config: { action: true },
      },
      async (request, reply) => {
        const claim = idempotencyClaim(request, operatorCaller);
        const id = found(parseAccountId(request.params.account_id));
        const committed = found(await tenants.setParentStatus(id, status, claim));
        noteReplay(reply, committed);
        return toBody(await enforced(committed, barrier, reply, config.headers.enforced));
      },
    );
  }
}

function filterOf({ status, external_id: externalId, q: nameStart }: Static<typeof listQuery>): ParentFilter {
  return { ...(status && { status }), ...(externalId && { externalId }), ...(nameStart && { nameStart }) };
}

/** Without filters the name that 0.1.0 gives the list, so that its cursors are good here. */
function listName({ status, externalId, nameStart }: ParentFilter): ListName {
  const filters = [status, externalId, nameStart];
  return filters.every((each) => each === undefined) ? ['accounts'] : ['accounts', ...filters];
}

function toBody(account: ParentAccount): Static<typeof accountBody> {
  return {
    id: account.id,
    name: account.name,
    external_id: account.externalId,
    status: account.status,
    metadata: account.metadata,
    active_sub_accounts: account.activeSubAccounts,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  };
}
