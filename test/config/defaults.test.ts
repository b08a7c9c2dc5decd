// class: pure
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { parse } from 'yaml';
import { allKeys } from '../../src/config/schema.ts';
import { configFile, goodConfig } from '../support/config-files.ts';

const example = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url));

t.test('without file and variables: loopback, the embedded store and the ports of the documentation', (t) => {
  const config = goodConfig();
  t.match(config.listen, { host: '127.0.0.1', port: 8080, tls: null });
  t.same(config.internal, { host: '127.0.0.1', port: 9090 });
  t.same(config.operators, []);
  t.same(config.store, { kind: 'embedded', dataDir: './data' });
  t.equal(config.redis.url, null);
  t.equal(config.workers, 1);
  t.equal(config.migrate, true);
  t.equal(config.coherence.leaseMs, 3000);
  t.equal(config.events.retentionDays, 400);
  t.match(config.usage, { hourlyRetentionDays: 62, retentionMonths: 25 });
  t.equal(config.log.level, 'info');
  t.same(config.trustedProxies, []);
  t.same(config.routes, []);
  t.same(config.authentication.schemes, ['Bearer']);
  t.equal(config.headers.acting, 'X-Service-Acting-Tenant');
  t.end();
});

t.test('config/gateway.yaml says what the defaults are', (t) => {
  t.same(goodConfig({ CONFIG: example }), goodConfig());
  t.end();
});

t.test('config/gateway.yaml holds every key and the variable of each', (t) => {
  const text = readFileSync(example, 'utf8');
  const document = parse(text) as Record<string, unknown>;
  for (const { path, node } of allKeys()) {
    const name = path.at(-1) ?? '';
    const shown =
      path[0] === 'routes' || ['tls', 'cors', 'export', 'links'].some((section) => path.includes(section))
        ? new RegExp(`^[ #{-]*${name}:`, 'm').test(text)
        : has(document, path);
    t.ok(shown, path.join('.'));
    if (node.env !== undefined) t.match(text, `[${node.env}`, `${node.env} is named`);
  }
  t.end();
});

t.test('an empty file, and a section whose keys are all commented out, mean the defaults', (t) => {
  t.same(goodConfig({ CONFIG: configFile(t, '') }), goodConfig());
  t.same(
    goodConfig({ CONFIG: configFile(t, 'listen:\n  # port: 1\nroutes:\nlimits: {max_headers: }\n') }),
    goodConfig(),
  );
  t.end();
});

function has(document: Record<string, unknown>, path: readonly string[]): boolean {
  let value: unknown = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false;
    value = (value as Record<string, unknown>)[name];
  }
  return true;
}
