// class: app
/** Far from PostgreSQL each statement of a change is a round trip, and a connection is taken as long. */
import { Buffer } from 'node:buffer';
import t from 'tap';
import { startApis } from '../support/apis.ts';
import type { Call, HttpResponse } from '../support/http-client.ts';
import { freshStore, storeAt } from '../support/store.ts';
import { tcpRelay } from '../support/tcp-relay.ts';

/** Execute of PostgreSQL's protocol: the unnamed portal, all rows. */
const execute = Buffer.from('45000000090000000000', 'hex');

t.test('a change is one statement, which finds out whether the account is there', async (t) => {
  const { url, store } = await freshStore(t);
  const target = new URL(url);
  const relay = await tcpRelay(t, Number(target.port));
  target.port = String(relay.port);
  const relayed = storeAt(t, target.href);
  // Decisions read the facts by the other store; a gateway has them in memory.
  const apis = await startApis(t, { store, deps: { tenants: relayed.tenants } });
  const { operator } = apis;
  const { tenants } = relayed;

  async function counted(call: Call, method: string, path: string, body?: object): Promise<HttpResponse> {
    await tenants.listParents({}, { limit: 1 });
    relay.clear();
    const response = await call(method, path, body && { body: { ...body } });
    t.equal(
      relay.count(execute),
      1,
      `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, '…')}: ${response.status}`,
    );
    return response;
  }

  async function keyChanges(call: Call, keys: string, name: string): Promise<void> {
    const made = await counted(call, 'POST', keys, { name: 'Key' });
    t.equal(made.status, 201, name);
    const key = `${keys}/${String(made.body['id'])}`;
    t.match(await counted(call, 'PATCH', key, { name: 'Other' }), { status: 200 });
    t.match(await counted(call, 'POST', `${key}/rotate`, { expires_in: 60 }), { status: 201 });
    t.match(await counted(call, 'POST', `${key}/revoke`), { status: 200 });
    t.match(await counted(call, 'POST', `${keys}/revoke-all`), { status: 200 });
  }

  async function subAccountChanges(call: Call, subs: string): Promise<string> {
    const sub = `${subs}/${String((await counted(call, 'POST', subs, { name: 'Sub' })).body['id'])}`;
    t.match(await counted(call, 'PATCH', sub, { name: 'Other' }), { status: 200 });
    t.match(await counted(call, 'POST', `${sub}/deactivate`), { status: 200 });
    t.match(await counted(call, 'POST', `${sub}/reactivate`), { status: 200 });
    return sub;
  }

  const parent = await apis.parent();
  // The first active sub-account has warnings to look for.
  await parent.create();
  const sub = await subAccountChanges(parent.call, '');
  await keyChanges(parent.call, `${sub}/api-keys`, 'by a parent');

  const other = await apis.parent();
  const account = `/accounts/${other.id}`;
  await other.create();
  await subAccountChanges(operator, `${account}/sub-accounts`);
  await keyChanges(operator, `${account}/api-keys`, 'by an operator');
  const known = { account: { id: other.id }, parent: null };
  const minted = await operator('POST', `${account}/api-keys`, { body: { name: 'Key' } });
  const byId = `/api-keys/${String(minted.body['id'])}`;
  t.match(await counted(operator, 'PATCH', byId, { name: 'Other' }), { status: 200, body: known });
  t.match(await counted(operator, 'POST', `${byId}/rotate`, { expires_in: 60 }), {
    status: 201,
    body: known,
  });
  t.match(await counted(operator, 'POST', `${byId}/revoke`), { status: 200, body: known });
  for (const action of ['suspend', 'resume'])
    t.match(await counted(operator, 'POST', `${account}/${action}`), { status: 200 });
  t.match(await counted(operator, 'PATCH', account, { name: 'Other' }), { status: 200 });

  // A sub-account is no parent, and another parent's is not there.
  const key = `api-keys/${parent.keyId}`;
  const third = await apis.parent();
  for (const [call, path, thing] of [
    [operator, `/accounts${sub}`, 'account'],
    [operator, `/accounts/${parent.keyId}`, 'account'],
    [third.call, sub, 'sub-account'],
    [parent.call, `/${parent.id}`, 'sub-account'],
  ] as const)
    for (const [method, rest, body] of [
      ['POST', 'api-keys', { name: 'Key' }],
      ['PATCH', key, { name: 'Other' }],
      ['POST', `${key}/rotate`, { expires_in: 0 }],
      ['POST', `${key}/revoke`],
      ...(call === operator ? [] : [['POST', 'api-keys/revoke-all'] as const]),
    ] as const)
      t.match(await counted(call, method, `${path}/${rest}`, body), {
        status: 404,
        body: { code: 'not_found', detail: `There is no such ${thing} here.` },
      });
});
