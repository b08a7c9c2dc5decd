// class: app
import t from 'tap';
import { authorizationSchemes, usualSchemes } from '../../src/domain/authorization.ts';
import { operatorToken, startApis } from '../support/apis.ts';
import { embeddedStore } from '../support/embedded.ts';
import { credentialForms } from '../support/credential-forms.ts';
import { startGateway } from '../support/gateway.ts';
import { httpClient } from '../support/http-client.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a key in a scheme that is not configured is 401 and reaches no upstream', async (t) => {
  const upstream = await startUpstream(t);
  for (const schemes of [usualSchemes, ...authorizationSchemes.map((one) => ['Bearer' as const, one])]) {
    const { call, parent } = await startGateway(t, { routes: { '/': upstream.url }, schemes });
    for (const [form, { scheme, of }] of Object.entries(credentialForms)) {
      const before = upstream.heads;
      const value = of(parent.key);
      for (const name of [scheme, scheme.toLowerCase()]) {
        const authorization = name + value.slice(scheme.length);
        const response = await call('GET', '/', { key: null, headers: [['Authorization', authorization]] });
        t.equal(response.status, schemes.includes(scheme) ? 200 : 401, `${form} with ${schemes.join(', ')}`);
      }
      t.equal(upstream.heads - before, schemes.includes(scheme) ? 2 : 0);
    }
  }
});

t.test('operators send Bearer, whatever callers may send', async (t) => {
  const apis = await startApis(t, { store: await embeddedStore(t), schemes: authorizationSchemes });
  const internal = httpClient(t, apis.internalOrigin);
  for (const [form, { scheme, of }] of Object.entries(credentialForms)) {
    const headers = { authorization: of(operatorToken) };
    const { status, headers: answered } = await internal('GET', '/admin/v1/accounts', { headers });
    t.equal(status, scheme === 'Bearer' ? 200 : 401, form);
    if (status === 401) t.equal(answered['www-authenticate'], 'Bearer');
  }
});
