// class: app
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { formatSecret, secretRandomBytes } from '../../src/domain/api-key.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { managementScopes } from '../../src/domain/scope.ts';
import { newApiKey } from '../../src/api/api-keys/resource.ts';
import type { Directory } from '../../src/ports/directory.ts';
import { startApis } from '../support/apis.ts';
import { DirectDirectory } from '../support/direct-directory.ts';
import type { CallOptions } from '../support/http-client.ts';
import { freshStore } from '../support/store.ts';

/** One for the tests that want nothing special: each makes parents of its own. */
const apis = await startApis(t);

const acting = 'X-Service-Acting-Tenant';
/** Well formed, and no account has it. */
const unknownKey = formatSecret('tgw', randomBytes(secretRandomBytes));

t.test('the first thing that is wrong decides the response, in the one order', async (t) => {
  const parent = await apis.parent();
  const reader = await apis.parent(['sub_accounts:read']);
  const suspended = await apis.parent();
  const child = await parent.create();
  const childKey = await child.mint(['tracking:read']);
  const deactivated = await parent.create();
  const deactivatedKey = await deactivated.mint();
  await deactivated.act('deactivate');
  await apis.operator('POST', `/accounts/${suspended.id}/suspend`);

  /** Each row is wrong in its own way, and in the ways that come after it. */
  const bad = { headers: { [acting]: 'x' }, body: '{' };
  const rows: [string, string, string, CallOptions, number, string][] = [
    ['no key', 'PUT', '/no/such', bad, 401, 'unauthenticated'],
    ['no known key', 'PUT', '/no/such', { ...bad, key: unknownKey }, 401, 'invalid_api_key'],
    ['a deactivated account', 'PUT', '/no/such', { ...bad, key: deactivatedKey }, 403, 'account_deactivated'],
    ['a suspended account', 'PUT', '/no/such', { ...bad, key: suspended.key }, 403, 'account_suspended'],
    ['no parent key', 'PUT', '/no/such', { ...bad, key: childKey }, 403, 'parent_key_required'],
    ['no such path', 'PUT', '/no/such/path', { ...bad, key: reader.key }, 404, 'not_found'],
    ['not this method', 'PUT', `/${child.id}`, { ...bad, key: reader.key }, 405, 'method_not_allowed'],
    ['no scope', 'POST', '', { ...bad, key: reader.key }, 403, 'insufficient_scope'],
    ['acting header', 'POST', '', { ...bad, key: parent.key }, 400, 'invalid_acting_tenant'],
    ['content type', 'PATCH', '/unknown', { key: parent.key, body: '{' }, 415, 'unsupported_media_type'],
    ['body', 'PATCH', '/unknown', { key: parent.key, body: {} }, 400, 'invalid_request'],
    ['existence', 'PATCH', '/unknown', { key: parent.key, body: { name: 'x' } }, 404, 'not_found'],
  ];
  for (const [name, method, path, options, status, code] of rows) {
    const response = await apis.call(method, `/v1/sub-accounts${path}`, options);
    t.match(response, { status, body: { code, status } }, name);
    t.match(response.headers, {
      'content-type': 'application/problem+json',
      'x-request-id': response.body['request_id'],
    });
    t.equal(response.headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
  }
});

t.test('a sub-account key cannot hold the scopes of management, and would not get in with one', async (t) => {
  const parent = await apis.parent();
  const child = await parent.create();
  // Past the API, as an old release or a hand in the database might.
  const { apiKey: key, stored } = newApiKey(
    { name: 'key', scopes: Object.values(managementScopes), expiresAt: null },
    'tgw',
    Date.now(),
    randomBytes,
  );
  await apis.store.tenants.createKey(child.id as AccountId, stored, 10);
  t.match(await apis.call('GET', '/v1/sub-accounts', { key }), {
    status: 403,
    body: { code: 'parent_key_required' },
  });
});

t.test('a key that lost its right while the body was on its way may not write any more', async (t) => {
  const { store } = await freshStore(t);
  let decided = (): void => undefined;
  const firstDecision = new Promise<void>((resolve) => (decided = resolve));
  const direct = new DirectDirectory(store.facts);
  const directory: Pick<Directory, 'decide' | 'lookUp'> = {
    decide: () => undefined,
    lookUp: () => {
      const lookup = direct.lookUp();
      return {
        decide: (evaluate) => {
          const decision = lookup.decide(evaluate);
          if (decision !== undefined) setImmediate(decided);
          return decision;
        },
        load: () => lookup.load(),
      };
    },
  };
  const apis = await startApis(t, { store, deps: { directory } });
  const parent = await apis.parent();
  const body = JSON.stringify({ name: 'Too late' });

  const socket = connect(Number(new URL(apis.origin).port), '127.0.0.1');
  socket.write(
    `POST /v1/sub-accounts HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${parent.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  await firstDecision;
  t.equal(
    (await apis.operator('POST', `/accounts/${parent.id}/api-keys/${parent.keyId}/revoke`)).status,
    200,
  );
  socket.write(body.slice(5));
  t.match(await text(socket), /^HTTP\/1\.1 401 [^]*api_key_revoked/);
  t.same((await store.tenants.listSubAccounts(parent.id as AccountId, {}, { limit: 1 })).rows, []);
});

t.test('a store that cannot be asked is 503, never 401 and never open', async (t) => {
  const { store } = await freshStore(t);
  const apis = await startApis(t, { store });
  const parent = await apis.parent();
  await store.close();
  for (const [method, path, options] of [
    ['GET', '', {}],
    ['POST', '', { body: { name: 'x' } }],
    ['GET', '/no/such/path', {}],
  ] as const) {
    const response = await parent.call(method, path, options);
    t.match(response, { status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': /^\d+$/ } });
  }
  t.match(
    await parent.call('GET', '', { key: 'no key' }),
    { status: 401 },
    'what needs no look-up needs no store',
  );
});
