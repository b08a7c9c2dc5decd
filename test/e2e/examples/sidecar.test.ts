// class: built
import t, { type Test } from 'tap';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { readManifests, readText } from '../../support/helm.ts';
import { only, podOf, selects, type Container } from '../../support/manifest.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { parentOf } from '../../support/reload.ts';
import { unusedPort } from '../../servers/unused-port.mjs';

const manifests = readManifests(readText('examples/sidecar/shop.yaml'));
const pod = podOf(only(manifests, 'Deployment'));
const [app, gateway] = [container('shop'), container('gateway')];
const file = only(manifests, 'ConfigMap').data?.['gateway.yaml'] ?? '';

t.test('the sidecar serves the app that only it can reach, and leaves before it', async (t) => {
  const appPort = String(await unusedPort());
  const service = await startApp(t, { ...plainEnv(app), PORT: appPort });
  const env = {
    ...plainEnv(gateway),
    DATABASE_URL: await freshDatabase(t),
    ADMIN_TOKEN: operatorToken,
    CONFIG: `${t.testdir({})}/gateway.yaml`,
  };
  writeFileSync(env.CONFIG, file.replace(':3000', `:${appPort}`));
  const running = await startProcess(t, env);
  await becomes(running.internalUrl, 200);

  for (const probe of [gateway.startupProbe, gateway.livenessProbe, gateway.readinessProbe]) {
    t.equal(probe?.httpGet.port, 'internal');
    const path = probe?.httpGet.path ?? '';
    t.equal((await fetch(running.internalUrl + path)).status, 200, path);
  }
  const { id, key } = await parentOf(t, running.url, running.internalUrl);
  const headers = { authorization: `Bearer ${key}`, 'x-service-resolved-tenant': 'forged' };
  const answer = await fetch(`${running.url}/shipments?page=2`, { headers });
  t.match(await answer.json(), { request: 'GET /shipments?page=2', operates_on: id });
  t.equal((await fetch(`${running.url}/shipments`)).status, 401, 'no key, no service');

  const elsewhere = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  if (elsewhere)
    t.equal(await reaches(elsewhere.address, Number(appPort)), false, 'not from outside the pod');

  t.equal(await running.program.kill('SIGTERM'), 0, 'the gateway drains and ends');
  t.equal(service.exitCode, null, 'while the app goes on answering');
});

t.test('the app outlives the drain of the gateway, and the pod outlives both', async (t) => {
  const drain = (parse(file) as { drain_ms: number }).drain_ms / 1000;
  t.ok(preStop(app) >= preStop(gateway) + drain, 'the app waits for the gateway');
  t.ok((pod?.spec.terminationGracePeriodSeconds ?? 0) > preStop(app) + 5, 'and has time to end itself');
});

t.test('callers get to the gateway, and to its internal port only those who are named', async (t) => {
  const labels = pod?.labels ?? {};
  const { spec } = only(manifests, 'Service');
  t.ok(selects(spec?.selector, labels));
  t.same(
    spec?.ports?.map(({ targetPort }) => targetPort),
    ['http'],
  );
  t.notOk(app.ports, 'the app offers none');
  const policy = only(manifests, 'NetworkPolicy').spec;
  t.ok(selects(policy?.podSelector?.matchLabels, labels));
  t.ok(policy?.ingress?.every(({ ports, from }) => ports[0]?.port === 'http' || (from && from.length > 0)));
});

function container(name: string): Container {
  const found = pod?.spec.containers.find((one) => one.name === name);
  if (!found) throw new Error(`no container ${name}`);
  return found;
}

/** Variables with a value of their own; those from Secrets are the test's to fill. */
function plainEnv({ env = [] }: Container): Record<string, string> {
  return Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
}

function preStop({ lifecycle }: Container): number {
  return lifecycle?.preStop?.sleep?.seconds ?? 0;
}

async function startApp(t: Test, env: Record<string, string>): Promise<{ exitCode: number | null }> {
  const script = fileURLToPath(new URL('../../../examples/app/server.mjs', import.meta.url));
  const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  await eventually(() => reaches('127.0.0.1', Number(env['PORT'])));
  return child;
}

async function reaches(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 5_000 });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
