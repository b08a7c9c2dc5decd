// class: pure
import t from 'tap';
import { parseRedisAddress } from '../../../src/config/redis/redis-address.ts';

const plain = { username: null, password: null, tls: null };

t.test('one server', async (t) => {
  t.same(parseRedisAddress('redis://cache'), {
    ...plain,
    kind: 'single',
    at: { host: 'cache', port: 6379 },
    db: 0,
  });
  t.same(parseRedisAddress('redis://:p%40ss@10.0.0.1:7000/3'), {
    ...plain,
    password: 'p@ss',
    kind: 'single',
    at: { host: '10.0.0.1', port: 7000 },
    db: 3,
  });
  t.same(parseRedisAddress('rediss://user:secret@[::1]:6380/'), {
    username: 'user',
    password: 'secret',
    tls: { caFile: null, certFile: null, keyFile: null },
    kind: 'single',
    at: { host: '::1', port: 6380 },
    db: 0,
  });
});

t.test('Sentinels', async (t) => {
  t.same(parseRedisAddress('redis+sentinel://s1,s2:26380/main/2?sentinel_password=x%2Fy'), {
    ...plain,
    kind: 'sentinel',
    sentinels: [
      { host: 's1', port: 26_379 },
      { host: 's2', port: 26_380 },
    ],
    master: 'main',
    db: 2,
    sentinelPassword: 'x/y',
  });
  t.match(parseRedisAddress('rediss+sentinel://s1/main'), { kind: 'sentinel', tls: {} });
});

t.test('a cluster', async (t) => {
  t.same(parseRedisAddress('redis+cluster://app:pw@n1,n2:7001'), {
    username: 'app',
    password: 'pw',
    tls: null,
    kind: 'cluster',
    nodes: [
      { host: 'n1', port: 6379 },
      { host: 'n2', port: 7001 },
    ],
  });
});

t.test('files for TLS', async (t) => {
  t.match(parseRedisAddress('rediss://cache/1?cacert=/etc/redis/ca%201.pem&cert=/c.pem&key=/k.pem'), {
    db: 1,
    tls: { caFile: '/etc/redis/ca 1.pem', certFile: '/c.pem', keyFile: '/k.pem' },
  });
  t.match(parseRedisAddress('rediss+cluster://n1?cacert=/ca.pem'), { tls: { caFile: '/ca.pem' } });
  t.match(parseRedisAddress('rediss+sentinel://s1/main?cacert=/ca.pem&sentinel_password=x'), {
    tls: { caFile: '/ca.pem' },
    sentinelPassword: 'x',
  });
});

t.test('anything else is rejected', async (t) => {
  for (const url of [
    '',
    'localhost:6379',
    'http://cache',
    'redis://',
    'redis://a,b',
    'redis://cache/one',
    'redis://cache/1/2',
    'redis://cache:0',
    'redis://cache:70000',
    'redis://:%zz@cache',
    'redis+sentinel://s1',
    'redis+sentinel://s1/main/0/more',
    'redis+cluster://n1/0',
    'redis+other://n1',
    'redis://cache?cacert=/ca.pem',
    'redis://cache?cert=/c.pem&key=/k.pem',
    'rediss://cache?cert=/c.pem',
    'rediss://cache?key=/k.pem',
  ]) {
    t.equal(parseRedisAddress(url), undefined, url);
  }
});
