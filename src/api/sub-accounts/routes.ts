import { Type } from 'typebox';
import type { SubAccountChange } from '../../domain/account.ts';
import { parseAccountId, uuidV7, type AccountId } from '../../domain/ids.ts';
import { ProblemError } from '../../domain/problem.ts';
import { managementScopes } from '../../domain/scope.ts';
import { idempotencyClaim, noteReplay } from '../rest/idempotency.ts';
import { withinLimit, found } from '../../http/not-found.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/pages.ts';
import { enforced } from '../rest/receipt.ts';
import { closed, noQuery, type TypedApp } from '../rest/typebox.ts';
import { invalidField } from '../../http/invalid-request.ts';
import type { ExternalIdTaken, SubAccountFilter } from '../../ports/tenant-store.ts';
import { callerOf } from '../guard.ts';
import type { ManagementDeps } from '../deps.ts';
import { createBody, listFilters, subAccountBody, subAccountToBody, updateBody } from './resource.ts';

const path = closed({ sub_id: Type.String() });
const read = { scope: managementScopes.read };
const write = { scope: managementScopes.write };

/** Create, list, get, update, deactivate and reactivate (spec section 4): a list of routes, one after the other. */
export function subAccountRoutes(app: TypedApp, deps: ManagementDeps): void {
  const { tenants, barrier, clock, randomBytes, config } = deps;

  app.post(
    '',
    { schema: { querystring: noQuery, body: createBody, response: { 201: subAccountBody } }, config: write },
    async (request, reply) => {
      const { accountId, keyId } = callerOf(request);
      const claim = idempotencyClaim(request, keyId);
      const { name, external_id: externalId = null, metadata = {} } = request.body;
      const id = uuidV7(clock.wallMs(), randomBytes(10)) as AccountId;
      const made = await tenants.createSubAccount(
        accountId,
        { id, name, externalId, metadata },
        config.limits.subAccountsPerParent,
        claim,
      );
      const committed = withinLimit(withFreeExternalId(made), 'sub-accounts');
      const account = await enforced(committed, barrier, reply, config.headers.enforced);
      noteReplay(reply, committed);
      reply.code(201);
      return subAccountToBody(account);
    },
  );

  app.get(
    '',
    {
      schema: {
        querystring: closed({ ...pageQuery(), ...listFilters }),
        response: { 200: closed(pageOf(subAccountBody)) },
      },
      config: read,
    },
    async (request) => {
      const { accountId } = callerOf(request);
      const { status, external_id: externalId } = request.query;
      const list = ['sub-accounts', accountId, status, externalId];
      const filter: SubAccountFilter = { ...(status && { status }), ...(externalId && { externalId }) };
      const page = await tenants.listSubAccounts(accountId, filter, readPage(request.query, list));
      return writePage(page, list, (account) => account.id, subAccountToBody);
    },
  );

  app.get(
    '/:sub_id',
    { schema: { params: path, querystring: noQuery, response: { 200: subAccountBody } }, config: read },
    async (request) => {
      const id = found(parseAccountId(request.params.sub_id));
      return subAccountToBody(found(await tenants.getSubAccount(callerOf(request).accountId, id)));
    },
  );

  app.patch(
    '/:sub_id',
    {
      schema: { params: path, querystring: noQuery, body: updateBody, response: { 200: subAccountBody } },
      config: write,
    },
    async (request, reply) => {
      const id = found(parseAccountId(request.params.sub_id));
      const { name, external_id: externalId, metadata } = request.body;
      const change: SubAccountChange = {
        ...(name !== undefined && { name }),
        ...(externalId !== undefined && { externalId }),
        ...(metadata !== undefined && { metadata }),
      };
      const changed = found(await tenants.updateSubAccount(callerOf(request).accountId, id, change));
      if (changed === 'too-many-pairs') throw invalidField('/metadata', 'would hold more than 16 pairs.');
      const account = await enforced(withFreeExternalId(changed), barrier, reply, config.headers.enforced);
      return subAccountToBody(account);
    },
  );

  for (const [action, status] of [
    ['deactivate', 'deactivated'],
    ['reactivate', 'active'],
  ] as const) {
    app.post(
      `/:sub_id/${action}`,
      {
        schema: { params: path, querystring: noQuery, response: { 200: subAccountBody } },
        config: { ...write, action: true },
      },
      async (request, reply) => {
        const { accountId, keyId } = callerOf(request);
        const claim = idempotencyClaim(request, keyId);
        const id = found(parseAccountId(request.params.sub_id));
        const committed = found(await tenants.setSubAccountStatus(accountId, id, status, claim));
        noteReplay(reply, committed);
        return subAccountToBody(await enforced(committed, barrier, reply, config.headers.enforced));
      },
    );
  }
}

function withFreeExternalId<T extends object>(outcome: T | ExternalIdTaken): T {
  if (!('taken' in outcome)) return outcome;
  throw new ProblemError({
    code: 'external_id_taken',
    detail: `The sub-account ${outcome.taken} has this external_id. A deactivated sub-account keeps it, too.`,
    extra: { sub_account_id: outcome.taken },
  });
}
