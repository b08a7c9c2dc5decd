import { Type, type Static } from 'typebox';
import { nameMaxLength, type ParentAccount } from '../../domain/account.ts';
import { parseAccountId, uuidV7, type AccountId } from '../../domain/ids.ts';
import { displayName } from '../rest/display-name.ts';
import { idempotencyClaim, noteReplay } from '../rest/idempotency.ts';
import { found } from '../../http/not-found.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/pages.ts';
import { enforced } from '../rest/receipt.ts';
import { closed, noQuery, timestamp, type TypedApp } from '../rest/typebox.ts';
import { operatorCaller } from '../../ports/tenant-store.ts';
import type { AdminDeps } from './deps.ts';

const path = closed({ account_id: Type.String() });

const accountBody = closed({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum(['active', 'suspended']),
  active_sub_accounts: Type.Integer(),
  created_at: timestamp,
  updated_at: timestamp,
});

const createBody = closed({ name: displayName('name', nameMaxLength) });

/** Create, list, get, suspend and resume parent accounts. */
export function accountRoutes(app: TypedApp, deps: AdminDeps): void {
  const { tenants, barrier, clock, randomBytes, config } = deps;

  app.post(
    '/accounts',
    { schema: { querystring: noQuery, body: createBody, response: { 201: accountBody } } },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const id = uuidV7(clock.wallMs(), randomBytes(10)) as AccountId;
      const account = await tenants.createParent({ id, name: request.body.name }, claim);
      noteReplay(reply, account);
      reply.code(201);
      return toBody(account);
    },
  );

  app.get(
    '/accounts',
    { schema: { querystring: closed(pageQuery()), response: { 200: closed(pageOf(accountBody)) } } },
    async (request) => {
      const list = ['accounts'];
      return writePage(
        await tenants.listParents(readPage(request.query, list)),
        list,
        ({ id }) => id,
        toBody,
      );
    },
  );

  app.get(
    '/accounts/:account_id',
    { schema: { params: path, querystring: noQuery, response: { 200: accountBody } } },
    async (request) =>
      toBody(found(await tenants.getParent(found(parseAccountId(request.params.account_id))))),
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

function toBody(account: ParentAccount): Static<typeof accountBody> {
  return {
    id: account.id,
    name: account.name,
    status: account.status,
    active_sub_accounts: account.activeSubAccounts,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  };
}
