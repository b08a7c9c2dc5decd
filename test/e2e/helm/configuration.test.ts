// class: chart
import type { Test } from 'tap';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { loadConfig } from '../../../src/config/load.ts';
import { withoutHelm } from '../../support/chart-tools.ts';
import { certificate } from '../../support/config-certificates.ts';
import { chartTest, readYaml, render, valuesFiles, type Values } from '../../support/helm.ts';
import { configOf, only, podOf, type Container } from '../../support/manifest.ts';

const cases = withoutHelm ? [] : [...valuesFiles()];
const defaults = readYaml('helm/tenancy-gateway/values.yaml') as { config: object };
const mounted = '/etc/tenancy-gateway';
const secrets: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://gateway:secret@postgres:5432/gateway',
  DATABASE_DIRECT_URL: 'postgres://gateway:secret@primary:5432/gateway',
  REDIS_URL: 'redis://redis:6379/0',
  ADMIN_TOKEN: '0123456789abcdef0123456789abcdef',
};

chartTest('the gateway itself accepts what a pod gets: file, variables and secrets', async (t) => {
  for (const [file, values] of cases) {
    const { env, folder } = pod(t, values);
    const loaded = loadConfig(env);
    t.notOk('faults' in loaded && loaded.faults, file);
    if (!('config' in loaded)) continue;
    const { config } = loaded;
    t.match(config.store, { kind: 'postgres', url: secrets['DATABASE_URL'] }, file);
    t.equal(config.listen.port, 8080, 'the port the chart declares');
    t.equal(config.internal.port, 9090, 'the port the chart declares');
    const portal = (values['portal'] as { enabled?: boolean } | undefined)?.enabled ? 8081 : undefined;
    t.equal(config.portal?.port, portal, 'the port the chart declares');
    const job = (values['migrations'] as { job?: { enabled?: boolean } } | undefined)?.job?.enabled;
    t.equal(config.migrate, !job, 'pods migrate exactly where no Job does');
    t.same(
      parse(readFileSync(`${folder}/gateway.yaml`, 'utf8')),
      here({ ...defaults.config, ...(values['config'] as object), ...operatorsOf(values) }, folder),
    );
  }
});

chartTest('operators have the roles that the values give them, and without roles each is an admin', (t) => {
  const values = readYaml('helm/tenancy-gateway/ci/minimal.yaml') as Values;
  const operators = (admin: object) => {
    const loaded = loadConfig(pod(t, { ...values, admin }).env);
    return 'config' in loaded ? loaded.config.operators : loaded.faults;
  };
  const alice = { operator: 'alice', token: 'a'.repeat(43) };
  t.same(operators({ tokensSecret: 'operators' }), [{ ...alice, role: 'admin' }]);
  t.same(operators({ tokensSecret: 'operators', roles: { alice: 'viewer' } }), [
    { ...alice, role: 'viewer' },
  ]);
  t.end();
});

/** The part of the gateway's file that is made of `admin.roles`. */
function operatorsOf({ admin }: Values): object {
  const { roles } = (admin ?? {}) as { readonly roles?: Readonly<Record<string, string>> };
  if (roles === undefined) return {};
  const entries = Object.entries(roles).map(([name, role]) => {
    return [name, { token_file: `${mounted}/operators/${name}`, role }] as const;
  });
  return { internal: { admin_tokens: Object.fromEntries(entries) } };
}

/** A pod's variables and its mounted files, in a folder of the test's own. */
function pod(t: Test, values: Values): { env: Record<string, string>; folder: string } {
  const all = render(values);
  const deployment = only(all, 'Deployment');
  const gateway = podOf(deployment)?.spec.containers.find(({ name }) => name === 'gateway');
  const folder = t.testdir({});
  mkdirSync(`${folder}/tls`);
  writeFileSync(`${folder}/tls/tls.crt`, certificate.a.cert);
  writeFileSync(`${folder}/tls/tls.key`, certificate.a.key);
  mkdirSync(`${folder}/redis`);
  writeFileSync(`${folder}/redis/mac-keys`, `${'k'.repeat(43)}\n`);
  mkdirSync(`${folder}/brand`);
  writeFileSync(`${folder}/brand/logo.png`, 'a picture');
  mkdirSync(`${folder}/operators`);
  writeFileSync(`${folder}/operators/alice`, 'a'.repeat(43));
  const text = configOf(deployment);
  writeFileSync(`${folder}/gateway.yaml`, here(text, folder));
  return { env: here(variables(gateway), folder), folder };
}

function variables(container: Container | undefined): Record<string, string> {
  const pairs = (container?.env ?? []).map(({ name, value }) => [name, value ?? secrets[name] ?? '']);
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** With the pod's mount replaced by the folder. */
function here<T>(value: T, folder: string): T {
  return JSON.parse(JSON.stringify(value).replaceAll(mounted, folder)) as T;
}
