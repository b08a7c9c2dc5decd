// class: app
/** Calls of an operator that began while the token was good, and whose body ends when it is not. */
import { request } from 'node:http';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import type { OperatorToken } from '../../src/config.ts';
import { operatorToken, startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { eventually } from '../support/eventually.ts';

const alice: OperatorToken = {
  operator: 'alice',
  token: 'token-of-alice-0123456789abcdef012',
  role: 'admin',
};
const usual: OperatorToken = { operator: 'operator', token: operatorToken, role: 'admin' };
const store = await embeddedStore(t);

for (const [what, after, status, code] of [
  ['a token that was taken away', [usual], 401, 'unauthenticated'],
  ['an operator who is a viewer now', [usual, { ...alice, role: 'viewer' }], 403, 'insufficient_role'],
] as const)
  t.test(`${what} changes nothing with a request that had begun before`, async (t) => {
    let begun = 0;
    const tokenGuesses = {
      pace: (_network: string, check: () => void) => (check(), (begun += 1)),
      note: () => undefined,
    };
    const apis = await startApis(t, { store, adminTokens: { alice }, tokenGuesses });
    const { id } = await apis.parent();
    begun = 0;
    const body = JSON.stringify({ name: 'late', scopes: ['sub_accounts:write'] });
    const sent = request(`${apis.internalOrigin}/admin/v1/accounts/${id}/api-keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${alice.token}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    sent.write(body.slice(0, 5));
    await eventually(() => begun === 1);
    apis.operatorTokens.replace(after);
    sent.end(body.slice(5));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const received = await text(response);
    t.equal(response.statusCode, status);
    t.match(JSON.parse(received), { code });
    t.notMatch(received, /tgw_/);
    const keys = await apis.operator('GET', `/accounts/${id}/api-keys`);
    t.equal((keys.body['data'] as unknown[]).length, 1, 'the first key of the account');
  });
