// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';

t.test('a client cannot take a trusted header away by naming it in Connection', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t);
  directory.rename(parent, 'acme');
  for (const named of [
    'X-Service-Resolved-Tenant',
    'close, x-service-resolved-tenant, X-Service-Caller-Tenant',
    'X-Service-Parent-Tenant, X-Service-Resolved-External-Id, X-Service-Parent-External-Id',
    'keep-alive, X-Service-Caller-Key, X-Service-Caller-Scopes, X-Request-Id, X-Forwarded-For',
  ]) {
    await call('GET', '/', { headers: [['Connection', named]] });
    const got = upstream.received.at(-1);
    t.strictSame(got?.values('x-service-resolved-tenant'), [parent.id], named);
    t.strictSame(got?.values('x-service-resolved-external-id'), ['acme'], named);
    t.strictSame(got?.values('x-service-parent-tenant'), [parent.id], named);
    t.strictSame(got?.values('x-service-parent-external-id'), ['acme'], named);
    t.strictSame(got?.values('x-service-caller-tenant'), [parent.id], named);
    t.strictSame(got?.values('x-service-caller-key'), [parent.keyId], named);
    t.strictSame(got?.values('x-service-caller-scopes'), ['tracking:read tracking:write'], named);
    t.equal(got?.values('x-request-id').length, 1, named);
    t.strictSame(got?.values('x-forwarded-for'), ['127.0.0.1'], named);
  }
});

t.test('what Connection names is dropped, but for what the message cannot be read without', async (t) => {
  const { upstream, call } = await startProxied(t);
  const response = await call('POST', '/', {
    headers: {
      'X-Private': 'for this hop',
      Connection: 'X-Private, Content-Length, Host',
      'X-Other': 'for the upstream',
    },
    body: 'twelve bytes',
  });
  t.equal(response.status, 200);
  const [got] = upstream.received;
  t.strictSame(got?.values('x-private'), []);
  t.strictSame(got?.values('x-other'), ['for the upstream']);
  t.strictSame(got?.values('host'), ['gateway.test']);
  t.strictSame(got?.values('content-length'), ['12']);
  t.equal(got?.body.toString(), 'twelve bytes');
});

t.test('naming the acting header in Connection does not make it go unseen', async (t) => {
  const { upstream, call, directory, parent } = await startProxied(t);
  const child = directory.addSubAccount(parent, 'child');
  await call('POST', '/', {
    headers: { Connection: 'X-Service-Acting-Tenant', 'X-Service-Acting-Tenant': 'ext:child' },
  });
  t.strictSame(upstream.received[0]?.values('x-service-resolved-tenant'), [child.id]);
});
