import { Type, type Static } from 'typebox';
import type { KeyDigest } from '../../domain/api-key.ts';
import { parseKeyId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import type { TenantStore } from '../../ports/tenant-store.ts';
import type { ChangedKey, HeldKey, KeyFilter } from '../../ports/api-keys.ts';
import { keyEndRoutes, keyUpdateRoute, type KeyLifeDeps, type KeyLifeRules } from '../api-keys/key-life.ts';
import { apiKeyFields, apiKeyToBody, secretFields, statuses } from '../api-keys/resource.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/paging.ts';
import { queryId } from '../rest/query-id.ts';
import { closed, noQuery, nullableText } from '../rest/typebox.ts';
import { operatorOf, type OperatorApp, type RoleAccess } from './operator-token.ts';

/** Dependencies of {@link anyKeyRoutes}. */
export interface AnyKeyDeps extends KeyLifeDeps {
  readonly tenants: KeyLifeDeps['tenants'] & Pick<TenantStore, 'findKeys'>;
}

const path = closed({ key_id: Type.String() });

const holder = { id: Type.String(), name: Type.String(), status: Type.String() };
const keyFields = {
  ...apiKeyFields,
  account: closed({ ...holder, external_id: nullableText() }),
  parent: Type.Unsafe<Static<ReturnType<typeof closedHolder>> | null>({
    ...closedHolder(),
    type: ['object', 'null'],
  }),
};
const keyBody = closed(keyFields);
const rotatedBody = closed({ ...keyFields, ...secretFields });

const filters = {
  prefix: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
  last4: Type.Optional(Type.String({ minLength: 1, maxLength: 4 })),
  sha256: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 of the key, in lower-case hexadecimal digits',
    }),
  ),
  account_id: Type.Optional(Type.String({ description: 'the account that has the key' })),
  status: Type.Optional(Type.Enum([...statuses])),
};

/**
 * Adds the routes that find, show, change, rotate and revoke any key of any account. Operators can find a leaked key by
 * its first and last characters or by its digest, so they never have to send the key itself.
 */
export function anyKeyRoutes(app: OperatorApp, deps: AnyKeyDeps): void {
  findRoute(app, deps);
  getRoute(app, deps);
  const rules: KeyLifeRules<RoleAccess> = {
    path: '/api-keys/:key_id',
    params: path,
    body: keyBody,
    mintedBody: rotatedBody,
    find: ({ params }) => {
      const { key_id: id } = params as Static<typeof path>;
      return { account: null, id: found(parseKeyId(id), 'API key') };
    },
    caller: operatorOf,
    toBody: changedToBody,
    write: { role: 'admin' },
    revoke: { role: 'support' },
  };
  keyUpdateRoute(app, deps, rules);
  keyEndRoutes(app, deps, rules);
}

function findRoute(app: OperatorApp, { tenants, clock }: AnyKeyDeps): void {
  app.get(
    '/api-keys',
    {
      schema: {
        querystring: closed({ ...pageQuery(), ...filters }),
        response: { 200: closed(pageOf(keyBody)) },
      },
      config: { role: 'viewer' },
    },
    async (request) => {
      const { prefix, last4, sha256, account_id: account, status } = request.query;
      const list = ['any-api-key', prefix, last4, sha256, account?.toLowerCase(), status];
      const page = readPage(request.query, list);
      const accountId = queryId('account_id', account);
      const filter: KeyFilter = {
        ...(prefix !== undefined && { prefix }),
        ...(last4 !== undefined && { last4 }),
        ...(sha256 !== undefined && {
          digest: Buffer.from(sha256, 'hex').toString('base64url') as KeyDigest,
        }),
        ...(accountId !== undefined && { account: accountId }),
        ...(status !== undefined && { status }),
      };
      const nowMs = clock.wallMs();
      return writePage(
        await tenants.findKeys(filter, page),
        list,
        ({ key }) => key.id,
        (key) => toBody(key, nowMs),
      );
    },
  );
}

function getRoute(app: OperatorApp, { tenants, clock }: AnyKeyDeps): void {
  app.get(
    '/api-keys/:key_id',
    {
      schema: { params: path, querystring: noQuery, response: { 200: keyBody } },
      config: { role: 'viewer' },
    },
    async (request) => toBody(await heldKey(tenants, request.params.key_id), clock.wallMs()),
  );
}

async function heldKey(tenants: AnyKeyDeps['tenants'], text: string): Promise<HeldKey> {
  const id = found(parseKeyId(text), 'API key');
  return found((await tenants.findKeys({ id }, { limit: 1 })).rows[0], 'API key');
}

function changedToBody({ holding, ...key }: ChangedKey, nowMs: number): Static<typeof keyBody> {
  return toBody({ key, ...found(holding, 'API key') }, nowMs);
}

function closedHolder() {
  return closed(holder);
}

function toBody({ key, account, parent }: HeldKey, nowMs: number): Static<typeof keyBody> {
  const { externalId, ...rest } = account;
  return {
    ...apiKeyToBody(key, 'account_id', nowMs),
    account: { ...rest, external_id: externalId },
    parent,
  };
}
