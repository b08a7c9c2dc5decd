// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';

const name = 'X-Service-Acting-Tenant';

t.test('an acting header that is sent twice decides nothing, whatever its values and spelling', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t);
  const child = directory.addSubAccount(parent, 'a');
  for (const [first, second] of [
    ['self', 'ext:a'],
    ['ext:a', 'self'],
    ['self', 'self'],
    [child.id, child.id],
    ['', 'self'],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      const headers: [string, string][] = [
        [name, first],
        ['Accept', '*/*'],
        [name.toLowerCase(), second],
      ];
      const response = await call(method, '/', { headers });
      t.match(response, { status: 400, code: 'invalid_acting_tenant' }, `${method} ${first} ${second}`);
      const forbidden = await call(method, '/', { key: child.key, headers });
      t.equal(forbidden.json().code, 'acting_tenant_forbidden');
    }
  }
  t.equal(upstream.heads, 0);
});

t.test('values that a proxy has joined are no value', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t);
  directory.addSubAccount(parent, 'a');
  for (const value of ['self, ext:a', 'self,self', 'ext:a, self', 'ext:a,b']) {
    const response = await call('GET', '/', { headers: [[name, value]] });
    t.equal(response.json().code, 'invalid_acting_tenant', value);
  }
  t.equal(upstream.heads, 0);
});

t.test('a spelling that is not the name is not the header', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t);
  directory.addSubAccount(parent, 'a');
  const response = await call('POST', '/', { headers: [['X_Service_Acting_Tenant', 'self']] });
  t.equal(response.json().code, 'acting_tenant_required');
  t.equal(upstream.heads, 0);
});
