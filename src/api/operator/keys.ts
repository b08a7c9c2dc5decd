import { Type, type Static } from 'typebox';
import type { KeyDigest } from '../../domain/api-key.ts';
import { parseAccountId, parseKeyId, type KeyId } from '../../domain/ids.ts';
import { found } from '../../http/not-found.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { operatorCaller } from '../../ports/tenant-store.ts';
import type { HeldKey, KeyFilter } from '../../ports/api-keys.ts';
import { apiKeyFields, apiKeyToBody } from '../api-keys/resource.ts';
import { idempotencyClaim, noteReplay } from '../rest/idempotency.ts';
import { pageOf, pageQuery, readPage, writePage } from '../rest/pages.ts';
import { enforced } from '../rest/receipt.ts';
import { closed, noQuery, nullableText, type TypedApp } from '../rest/typebox.ts';
import type { AdminDeps } from './deps.ts';

const path = closed({ key_id: Type.String() });

const holder = { id: Type.String(), name: Type.String(), status: Type.String() };
const keyBody = closed({
  ...apiKeyFields,
  account: closed({ ...holder, external_id: nullableText() }),
  parent: Type.Unsafe<Static<ReturnType<typeof closedHolder>> | null>({
    ...closedHolder(),
    type: ['object', 'null'],
  }),
});

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
  status: Type.Optional(Type.Enum(['active', 'expired', 'revoked'])),
};

/**
 * Find, show and revoke any key, a parent's or a sub-account's: what is at hand when a key has leaked is its first and
 * last characters, or the key itself, of which only the digest is sent.
 */
export function anyKeyRoutes(app: TypedApp, deps: AdminDeps): void {
  const { tenants, barrier, clock, config } = deps;

  const held = async (text: string): Promise<HeldKey> => {
    const id = found(parseKeyId(text));
    return found((await tenants.findKeys({ id }, { limit: 1 })).rows[0]);
  };

  app.get(
    '/api-keys',
    {
      schema: {
        querystring: closed({ ...pageQuery(), ...filters }),
        response: { 200: closed(pageOf(keyBody)) },
      },
    },
    async (request) => {
      const { prefix, last4, sha256, account_id: account, status } = request.query;
      const list = ['any-api-key', prefix, last4, sha256, account?.toLowerCase(), status];
      const page = readPage(request.query, list);
      const filter: KeyFilter = {
        ...(prefix !== undefined && { prefix }),
        ...(last4 !== undefined && { last4 }),
        ...(sha256 !== undefined && {
          digest: Buffer.from(sha256, 'hex').toString('base64url') as KeyDigest,
        }),
        ...(account !== undefined && { account: requireAccountId(account) }),
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

  app.get(
    '/api-keys/:key_id',
    { schema: { params: path, querystring: noQuery, response: { 200: keyBody } } },
    async (request) => toBody(await held(request.params.key_id), clock.wallMs()),
  );

  app.post(
    '/api-keys/:key_id/revoke',
    {
      schema: { params: path, querystring: noQuery, response: { 200: keyBody } },
      config: { action: true },
    },
    async (request, reply) => {
      const claim = idempotencyClaim(request, operatorCaller);
      const before = await held(request.params.key_id);
      const id: KeyId = before.key.id;
      const committed = found(await tenants.revokeKey(before.key.accountId, id, claim));
      noteReplay(reply, committed);
      const key = await enforced(committed, barrier, reply, config.headers.enforced);
      return toBody({ ...before, key }, clock.wallMs());
    },
  );
}

function closedHolder() {
  return closed(holder);
}

function requireAccountId(text: string) {
  const id = parseAccountId(text);
  if (id === undefined) throw invalidField('?account_id', 'must be a UUID.');
  return id;
}

function toBody({ key, account, parent }: HeldKey, nowMs: number): Static<typeof keyBody> {
  const { externalId, ...rest } = account;
  return {
    ...apiKeyToBody(key, 'account_id', nowMs),
    account: { ...rest, external_id: externalId },
    parent,
  };
}
