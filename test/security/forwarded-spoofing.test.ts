// class: app
import t from 'tap';
import { startProxied } from '../support/gateway.ts';

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
  const { upstream, call } = await startProxied(t);
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

/** Where CDNs and load balancers put the address of the client. */
const addressHeaders = [
  'Forwarded',
  'X-Real-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'X-Client-IP',
  'Client-IP',
  'X-Cluster-Client-IP',
  'Fastly-Client-IP',
];

t.test('no client gives itself another address, in any spelling', async (t) => {
  const { upstream, call } = await startProxied(t);
  const headers = addressHeaders.flatMap((name) =>
    [...'-_.!~'].flatMap((separator): [string, string][] => {
      const spelling = name.replaceAll('-', separator);
      return [
        [spelling, '203.0.113.7'],
        [spelling.toLowerCase(), '203.0.113.7'],
      ];
    }),
  );
  await call('GET', '/', { headers });
  t.notMatch(upstream.received[0]?.rawHeaders.join(), /203\.0\.113\.7/);
  t.equal(upstream.heads, 1);
});

t.test('the address that a trusted proxy gives is passed on, under its own name only', async (t) => {
  const { upstream, call } = await startProxied(t, { trustedProxies: ['127.0.0.0/8'] });
  const said = addressHeaders.map((name): [string, string] => [name, '203.0.113.7']);
  const forged = addressHeaders.map((name): [string, string] => [`${name.replaceAll('-', '_')}_`, 'forged']);
  await call('GET', '/', { headers: [...said, ...forged] });
  const [got] = upstream.received;
  for (const name of addressHeaders) t.strictSame(got?.values(name), ['203.0.113.7'], name);
  t.notOk(got?.rawHeaders.includes('forged'));
});

t.test('what a trusted proxy says does, with its own address added', async (t) => {
  const { upstream, call } = await startProxied(t, { trustedProxies: ['127.0.0.0/8'] });
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
  const { upstream, call, parent } = await startProxied(t, { trustedProxies: ['127.0.0.0/8'] });
  await call('GET', '/', { headers: [['X-Service-Resolved-Tenant', 'forged']] });
  t.strictSame(upstream.received[0]?.values('x-service-resolved-tenant'), [parent.id]);
});
