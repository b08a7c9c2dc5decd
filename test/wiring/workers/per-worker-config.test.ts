// class: pure
import t from 'tap';
import { workerConfig } from '../../../src/wiring/workers/per-worker-config.ts';
import { configFile, goodConfig } from '../../support/config-files.ts';

t.test('totals that the configuration names hold for all workers together', async (t) => {
  const file = configFile(
    t,
    `
limits: { max_connections: 1001, in_flight_per_tenant: 1 }
database: { max_connections: 10 }
routes:
  - { prefix: /, upstream: "http://127.0.0.1:1", connections: 100, websockets: 10 }
  - { prefix: /a, upstream: "http://127.0.0.1:1" }
`,
  );
  const config = goodConfig({ CONFIG: file, WORKERS: '4', DATABASE_URL: 'postgres://127.0.0.1:1/none' });
  const share = workerConfig(config);
  t.equal(share.limits.maxConnections, 251);
  t.equal(share.limits.inFlightPerTenant, 1, 'never none');
  t.equal(share.limits.heldBytes, Math.ceil(config.limits.heldBytes / 4));
  t.same(
    share.routes.map(({ prefix, connections, websockets }) => [prefix, connections, websockets]),
    config.routes.map(({ prefix }) => (prefix === '/' ? ['/', 25, 3] : ['/a', 64, null])),
  );
  t.same(share.store, config.store, 'each worker is a replica with connections of its own');
});
