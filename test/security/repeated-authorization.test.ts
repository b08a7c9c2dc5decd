import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('two Authorization headers are 401: neither the first nor the last one wins', async (t) => {
  const upstream = await startUpstream(t);
  const { call, directory, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const other = directory.addParent();
  for (const [first, second] of [
    [parent.key, other.key],
    [other.key, parent.key],
    [parent.key, parent.key],
    [parent.key, 'nonsense'],
    ['nonsense', parent.key],
  ]) {
    const response = await call('GET', '/', {
      key: null,
      headers: [
        ['Authorization', `Bearer ${first}`],
        ['authorization', `Bearer ${second}`],
      ],
    });
    t.equal(response.status, 401);
    t.equal(response.json().code, 'unauthenticated');
    t.equal(response.headers['www-authenticate'], 'Bearer');
  }
  t.equal(upstream.heads, 0);
});

t.test('nor do two keys in one header count', async (t) => {
  const upstream = await startUpstream(t);
  const { call, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const value of [
    `Bearer ${parent.key}, Bearer ${parent.key}`,
    `Bearer ${parent.key} ${parent.key}`,
    `Bearer ${parent.key},`,
    `Basic ${parent.key}`,
    'Bearer',
    '',
  ]) {
    const response = await call('GET', '/', { key: null, headers: [['Authorization', value]] });
    t.equal(response.status, 401, value);
  }
  t.equal(upstream.heads, 0);
});
