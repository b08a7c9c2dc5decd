// class: built
import t from 'tap';
import { randomBytes } from 'node:crypto';
import { loadConfig } from '../../../src/config/load.ts';
import { readText } from '../../support/helm.ts';
import { proxies } from './proxies.ts';
import { testProxies } from './proxy-tests.ts';

t.test('the gateway accepts the configuration and the variables of the example', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': readText('examples/linux/gateway.yaml') });
  const pairs = [...readText('examples/linux/environment').matchAll(/^(\w+)=(.*)$/gm)];
  const env = Object.fromEntries(
    pairs.map(([, name, value]) => [name ?? '', (value ?? '').replace(':PASSWORD@', ':secret@')]),
  );
  const loaded = loadConfig({
    ...env,
    ADMIN_TOKEN: randomBytes(24).toString('hex'),
    CONFIG: `${folder}/gateway.yaml`,
  });
  t.match(loaded, {
    config: { store: { kind: 'postgres' }, routes: [{ upstream: 'http://127.0.0.1:3000' }] },
  });
});

// `scripts/ci-tools.sh` brings it, and it asks /readyz.
testProxies(proxies.filter(({ name }) => name === 'Caddy'));
