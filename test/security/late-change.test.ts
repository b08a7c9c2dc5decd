// class: app
/** Changes that were decided about while their key was good, and reach the store when it is not. */
import t from 'tap';
import type { TenantStore } from '../../src/ports/tenant-store.ts';
import { startApis, type Parent } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';
import type { Call, HttpResponse } from '../support/http-client.ts';

const store = await embeddedStore(t);
/** What of the store is held until the gate is open. */
const held: ReadonlySet<unknown> = new Set<keyof TenantStore>([
  'createSubAccount',
  'updateSubAccount',
  'putSubAccount',
  'setSubAccountStatus',
  'deleteSubAccount',
  'createKey',
  'updateKey',
  'rotateKey',
  'revokeKey',
  'revokeAllKeys',
]);

/** What stands between a decision and the store. */
const gate = { calls: 0, open: Promise.resolve() };
const apis = await startApis(t, { store, deps: { tenants: gated(store.tenants) } });
/** Another replica, by which keys are revoked. */
const { operator } = await startApis(t, { store });

function gated<Tenants extends TenantStore>(tenants: Tenants): Tenants {
  return new Proxy(tenants, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...parameters: unknown[]) => Promise<unknown>;
      if (!held.has(name)) return method;
      return async (...parameters: unknown[]) => {
        gate.calls += 1;
        await gate.open;
        return method(...parameters);
      };
    },
  });
}

/** Sends `calls`, does `between` when all have been decided about, and lets them reach the store. */
async function meanwhile(
  calls: readonly (() => Promise<HttpResponse>)[],
  between: () => Promise<void>,
): Promise<readonly HttpResponse[]> {
  let open = (): void => undefined;
  gate.open = new Promise((resolve) => (open = resolve));
  gate.calls = 0;
  const responses = calls.map((call) => call());
  try {
    await eventually(() => gate.calls === calls.length);
    await between();
  } finally {
    open();
  }
  return Promise.all(responses);
}

async function expect200(response: Promise<HttpResponse>): Promise<void> {
  const { status, text } = await response;
  if (status !== 200) throw new Error(`${status}: ${text}`);
}

/** Every write of the management API, for a parent with a sub-account that has a key. */
async function everyWrite(parent: Parent): Promise<{
  readonly writes: readonly (readonly [string, () => Promise<HttpResponse>])[];
  /** What the writes could change, by another key of the parent. */
  readonly look: (call: Call) => Promise<unknown>;
}> {
  const active = await parent.create({ name: 'Child', external_id: 'there' });
  const inactive = await parent.create();
  await active.mint();
  await inactive.act('deactivate');
  const keys = await parent.call('GET', `/${active.id}/api-keys`);
  const [{ id: keyId }] = keys.body['data'] as [{ id: string }];
  const { call } = parent;
  return {
    writes: [
      ['create', () => call('POST', '', { body: { name: 'Late' } })],
      ['update', () => call('PATCH', `/${active.id}`, { body: { name: 'Late' } })],
      ['update external_id', () => call('PATCH', `/${active.id}`, { body: { external_id: 'late' } })],
      ['limit', () => call('PATCH', `/${active.id}`, { body: { limits: { requests_per_second: 5 } } })],
      [
        'limit a key',
        () =>
          call('PATCH', `/${active.id}/api-keys/${keyId}`, { body: { limits: { requests_per_second: 5 } } }),
      ],
      ['put', () => call('PUT', '/by-external-id/late-put', { body: { name: 'Late' } })],
      ['put what is there', () => call('PUT', '/by-external-id/there', { body: { name: 'Late' } })],
      ['deactivate', () => call('POST', `/${active.id}/deactivate`)],
      ['reactivate', () => call('POST', `/${inactive.id}/reactivate`)],
      ['mint', () => call('POST', `/${active.id}/api-keys`, { body: { name: 'Late' } })],
      ['rename a key', () => call('PATCH', `/${active.id}/api-keys/${keyId}`, { body: { name: 'Late' } })],
      [
        'change an expiry',
        () =>
          call('PATCH', `/${active.id}/api-keys/${keyId}`, { body: { expires_at: '2999-01-01T00:00:00Z' } }),
      ],
      ['rotate', () => call('POST', `/${active.id}/api-keys/${keyId}/rotate`, { body: { expires_in: 0 } })],
      ['revoke', () => call('POST', `/${active.id}/api-keys/${keyId}/revoke`)],
      ['revoke all', () => call('POST', `/${active.id}/api-keys/revoke-all`)],
      ['delete', () => call('DELETE', `/${inactive.id}`)],
    ],
    look: async (call) => [
      (await call('GET', '')).body,
      (await call('GET', `/${active.id}/api-keys`)).body,
      (await call('GET', `/${inactive.id}/api-keys`)).body,
    ],
  };
}

/** Another key of a parent, and its calls. */
async function secondKey({ id }: Parent): Promise<Call> {
  const body = { name: 'second', scopes: ['sub_accounts:read', 'sub_accounts:write'] };
  const { body: minted } = await operator('POST', `/accounts/${id}/api-keys`, { body });
  return (method, path, options) =>
    apis.call(method, `/v1/sub-accounts${path}`, { key: String(minted['api_key']), ...options });
}

t.test('a write that reaches the store after its key was revoked is 401 and does nothing', async (t) => {
  const parent = await apis.parent();
  const other = await secondKey(parent);
  const { writes, look } = await everyWrite(parent);
  const before = await look(other);
  const responses = await meanwhile(
    writes.map(([, call]) => call),
    () => expect200(operator('POST', `/accounts/${parent.id}/api-keys/${parent.keyId}/revoke`)),
  );
  responses.forEach((response, i) =>
    t.match(
      response,
      {
        status: 401,
        headers: { 'www-authenticate': 'Bearer', 'x-service-enforced': undefined },
        body: { code: 'api_key_revoked', detail: 'This API key was revoked.' },
      },
      String(writes[i]?.[0]),
    ),
  );
  t.same(await look(other), before);
  const decided = await parent.call('GET', '');
  t.equal(decided.body['detail'], responses[0]?.body['detail'], 'as the guard says it');
});

t.test('a write that reaches the store after a suspension is 403 and does nothing', async (t) => {
  const parent = await apis.parent();
  const { writes, look } = await everyWrite(parent);
  const before = await look(parent.call);
  const responses = await meanwhile(
    writes.map(([, call]) => call),
    () => expect200(operator('POST', `/accounts/${parent.id}/suspend`)),
  );
  responses.forEach((response, i) =>
    t.match(response, { status: 403, body: { code: 'account_suspended' } }, String(writes[i]?.[0])),
  );
  await expect200(operator('POST', `/accounts/${parent.id}/resume`));
  t.same(await look(parent.call), before);
});
