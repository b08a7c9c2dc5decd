// class: pure
import t from 'tap';
import { configFile, faultsOf, goodConfig } from '../support/config-files.ts';

t.test('every variable of the contract is read', (t) => {
  const config = goodConfig({
    HOST: '0.0.0.0',
    PORT: '1234',
    INTERNAL_HOST: '::1',
    INTERNAL_PORT: '1235',
    ADMIN_TOKEN: 'a-token',
    DATABASE_URL: 'postgres://user:pass@db:5432/name',
    REDIS_URL: 'rediss://cache:6379/1',
    UPSTREAM_URL: 'http://app:3000',
    LOG_LEVEL: 'warn',
    COHERENCE_LEASE_MS: '1500',
    MIGRATE: 'off',
    WORKERS: '3',
  });
  t.same(config.listen, { host: '0.0.0.0', port: 1234, tls: null });
  t.same(config.internal, { host: '::1', port: 1235 });
  t.same(config.operators, [{ operator: 'operator', token: 'a-token', role: 'admin' }]);
  t.match(config.store, { kind: 'postgres', url: 'postgres://user:pass@db:5432/name' });
  t.equal(config.redis.url, 'rediss://cache:6379/1');
  t.match(config.routes, [
    { prefix: '/', upstream: 'http://app:3000', host: 'preserve', passAuthorization: false },
  ]);
  t.equal(config.log.level, 'warn');
  t.equal(config.coherence.leaseMs, 1500);
  t.equal(config.migrate, false);
  t.equal(config.workers, 3);
  t.same(goodConfig({ DATA_DIR: '/var/lib/gateway' }).store, {
    kind: 'embedded',
    dataDir: '/var/lib/gateway',
  });
  t.end();
});

t.test('a variable overrides the file, and an empty one does not', (t) => {
  const CONFIG = configFile(t, 'listen: {host: 10.0.0.1, port: 81}\nlog: {level: debug}');
  t.match(goodConfig({ CONFIG, PORT: '82', LOG_LEVEL: '' }), {
    listen: { host: '10.0.0.1', port: 82 },
    log: { level: 'debug' },
  });
  t.end();
});

t.test('a wrong value is laid to the variable it came from, not to the file', (t) => {
  const CONFIG = configFile(t, 'listen: {port: 81}');
  const env = {
    CONFIG,
    PORT: '80a',
    MIGRATE: 'maybe',
    LOG_LEVEL: 'loud',
    COHERENCE_LEASE_MS: '1',
    HOST: 'a b',
  };
  t.same(
    faultsOf(env).map(({ where }) => where),
    ['COHERENCE_LEASE_MS', 'HOST', 'LOG_LEVEL', 'MIGRATE', 'PORT'],
  );
  t.end();
});

t.test('UPSTREAM_URL takes the paths that no route takes, and overrides the upstream of a route /', (t) => {
  const others = configFile(
    t,
    'routes: [{prefix: /rates, upstream: "http://rates"}]\nroute_defaults: {connections: 7}',
  );
  t.match(goodConfig({ CONFIG: others, UPSTREAM_URL: 'http://app' }).routes, [
    { prefix: '/rates', upstream: 'http://rates' },
    { prefix: '/', upstream: 'http://app', connections: 7 },
  ]);
  const root = configFile(t, 'routes: [{prefix: /, upstream: "http://old", pass_authorization: true}]');
  const { routes } = goodConfig({ CONFIG: root, UPSTREAM_URL: 'http://new' });
  t.match(routes, [{ prefix: '/', upstream: 'http://new', passAuthorization: true }]);
  t.equal(routes.length, 1);
  t.end();
});

t.test(
  'on PostgreSQL a missing upstream is a fault; on the embedded store requests go to the echo upstream',
  (t) => {
    t.match(faultsOf({ DATABASE_URL: 'postgres://db/name' }), [{ where: 'UPSTREAM_URL', detail: /missing/ }]);
    t.same(faultsOf({}), []);
    // A wrong upstream is one fault, not two.
    t.equal(faultsOf({ DATABASE_URL: 'postgres://db/name', UPSTREAM_URL: 'nonsense' }).length, 1);
    t.end();
  },
);
