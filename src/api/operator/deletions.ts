import { Type, type Static } from 'typebox';
import { parseAccountId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import type { Erasure } from '../../ports/erasures.ts';
import { enforced } from '../rest/changes.ts';
import { sendDeleted } from '../rest/deletions.ts';
import { closed, noQuery, nullableText, nullableTimestamp, timestamp } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';
import { operatorOf, type OperatorApp } from './operator-token.ts';

const path = closed({ account_id: Type.String() });

const erasureBody = closed({
  account_id: Type.String(),
  parent_id: nullableText(),
  status: Type.Enum(['pending', 'done']),
  deleted_at: timestamp,
  erased_at: nullableTimestamp,
  accounts: Type.Integer(),
  api_keys: Type.Integer(),
  events: Type.Integer(),
  idempotency_records: Type.Integer(),
});

/** Adds the routes that delete a parent account, and show how far the erasure of a deleted account has come. */
export function deletionRoutes(app: OperatorApp, { tenants, erasures, barrier, config }: AdminDeps): void {
  app.delete(
    '/accounts/:account_id',
    {
      schema: { params: path, querystring: noQuery, response: { 204: Type.Null() } },
      config: { role: 'admin', action: true },
    },
    async (request, reply) => {
      const id = found(parseAccountId(request.params.account_id), 'account');
      const deleted = await tenants.deleteParent(id, operatorOf(request));
      const { enforced: header } = config.headers;
      return sendDeleted(deleted, 'account', reply, header, (committed) =>
        enforced(committed, barrier, reply, header),
      );
    },
  );

  app.get(
    '/erasures/:account_id',
    {
      schema: { params: path, querystring: noQuery, response: { 200: erasureBody } },
      config: { role: 'viewer' },
    },
    async (request) => {
      const id = found(parseAccountId(request.params.account_id), 'erasure');
      return erasureToBody(found(await erasures.get(id), 'erasure'));
    },
  );
}

function erasureToBody(erasure: Erasure): Static<typeof erasureBody> {
  return {
    account_id: erasure.accountId,
    parent_id: erasure.parentId,
    status: erasure.erasedAt === null ? 'pending' : 'done',
    deleted_at: erasure.deletedAt.toISOString(),
    erased_at: erasure.erasedAt?.toISOString() ?? null,
    accounts: erasure.accounts,
    api_keys: erasure.apiKeys,
    events: erasure.events,
    idempotency_records: erasure.idempotencyRecords,
  };
}
