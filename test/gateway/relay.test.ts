import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a request goes through with the headers of the gateway', async (t) => {
  const upstream = await startUpstream(t);
  const { call, parent, usage, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const answer = await call('GET', '/v1/shipments/1?q=%2F', { headers: [['X-Custom', 'yes']] });
  t.equal(answer.status, 200);
  const [got] = upstream.received;
  t.equal(got?.target, '/v1/shipments/1?q=%2F');
  t.strictSame(got?.values('x-service-resolved-tenant'), [parent.id]);
  t.strictSame(got?.values('x-service-caller-scopes'), ['tracking:read tracking:write']);
  t.strictSame(got?.values('authorization'), []);
  t.strictSame(got?.values('x-custom'), ['yes']);
  t.strictSame(got?.values('host'), ['gateway.test']);
  t.equal(answer.headers['x-service-resolved-tenant'], parent.id);
  t.equal(answer.headers['x-request-id'], got?.values('x-request-id')[0]);
  t.equal(usage.length, 1);
  t.match(finished, [
    { status: 200, code: null, reason: 'self-by-default', path: '/v1/shipments/1', route: '/' },
  ]);
});
t.test('a body goes through', async (t) => {
  const upstream = await startUpstream(t);
  const { call, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const answer = await call('POST', '/v1/shipments', { body: 'hello\xff' });
  t.equal(answer.status, 200);
  t.equal(upstream.received[0]?.body.toString('latin1'), 'hello\xff');
  t.match(finished, [{ bytesIn: 6 }]);
});
