import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

const claims: [string, string][] = [
  ['X-Forwarded-For', '203.0.113.7'],
  ['x-forwarded-for', '203.0.113.8'],
  ['X-Forwarded-Proto', 'https'],
  ['X-Forwarded-Host', 'public.example'],
  ['X-Forwarded-Port', '443'],
  ['Forwarded', 'for=203.0.113.7'],
  ['X-Real-IP', '203.0.113.7'],
  ['X-Request-Id', 'from-the-proxy'],
];

t.test('what a client says about where it comes from does not count', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  const response = await call('GET', '/', { headers: claims });
  const [got] = upstream.received;
  t.strictSame(got?.values('x-forwarded-for'), ['127.0.0.1']);
  t.strictSame(got?.values('x-forwarded-proto'), ['http']);
  t.strictSame(got?.values('x-forwarded-host'), ['gateway.test']);
  for (const name of ['x-forwarded-port', 'forwarded', 'x-real-ip'])
    t.strictSame(got?.values(name), [], name);
  t.not(response.headers['x-request-id'], 'from-the-proxy');
  t.strictSame(got?.values('x-request-id'), [response.headers['x-request-id']]);
});

t.test('what a trusted proxy says does, with its own address added', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, { routes: { '/': upstream.url }, trustedProxies: ['127.0.0.0/8'] });
  const response = await call('GET', '/', { headers: claims });
  const [got] = upstream.received;
  t.strictSame(got?.values('x-forwarded-for'), ['203.0.113.7, 203.0.113.8, 127.0.0.1']);
  t.strictSame(got?.values('x-forwarded-proto'), ['https']);
  t.strictSame(got?.values('x-forwarded-host'), ['public.example']);
  t.strictSame(got?.values('x-forwarded-port'), ['443']);
  t.strictSame(got?.values('forwarded'), ['for=203.0.113.7']);
  t.strictSame(got?.values('x-real-ip'), ['203.0.113.7']);
  t.strictSame(got?.values('x-request-id'), ['from-the-proxy']);
  t.equal(response.headers['x-request-id'], 'from-the-proxy');
});

t.test('a trusted proxy does not speak for a tenant', async (t) => {
  const upstream = await startUpstream(t);
  const { call, parent } = await startGateway(t, {
    routes: { '/': upstream.url },
    trustedProxies: ['127.0.0.0/8'],
  });
  await call('GET', '/', { headers: [['X-Service-Resolved-Tenant', 'forged']] });
  t.strictSame(upstream.received[0]?.values('x-service-resolved-tenant'), [parent.id]);
});
