// class: chart
import type { Test } from 'tap';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { helm } from '../../support/chart-tools.ts';
import { chart, chartTest, readManifests, readYaml, render, type Values } from '../../support/helm.ts';
import { only } from '../../support/manifest.ts';
import { withValue } from '../../support/values.ts';

const minimal = readYaml('helm/tenancy-gateway/ci/minimal.yaml') as Values;
const scaled = withValue(minimal, ['autoscaling'], { enabled: true, minReplicas: 3, maxReplicas: 20 });

chartTest(
  'an upgrade with autoscaling asks for as many pods as there are, and never for fewer than minReplicas',
  async (t) => {
    t.equal(await replicasBeside(t, undefined, scaled), 3, 'a first installation');
    t.equal(await replicasBeside(t, 8, scaled), 8);
    t.equal(await replicasBeside(t, 2, scaled), 3);
  },
);

chartTest('without autoscaling the number is that of the values', async (t) => {
  t.equal(await replicasBeside(t, 8, minimal), 2);
});

chartTest(
  'with `replicas: null` the manifest has no number that another program would have to fight',
  async (t) => {
    for (const values of [minimal, scaled]) {
      const nulled = withValue(values, ['replicas'], null);
      t.equal(await replicasBeside(t, 8, nulled), undefined);
      t.notOk('replicas' in (only(render(nulled), 'Deployment').spec ?? {}));
    }
  },
);

/**
 * What the chart asks for where a Deployment of that many replicas runs. There is no cluster: Helm looks up that one object
 * in as much of an API server as it needs for it.
 */
async function replicasBeside(
  t: Test,
  live: number | undefined,
  values: Values,
): Promise<number | undefined> {
  const server = createServer((request, response) => {
    const body = responses(live)[request.url?.split('?')[0] ?? ''];
    response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(
        body ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, reason: 'NotFound' },
      ),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = t.testdir({});
  writeFileSync(`${folder}/kubeconfig`, kubeconfig(port));
  writeFileSync(`${folder}/values.yaml`, stringify(values));
  const { stdout } = await promisify(execFile)(
    helm ?? 'helm',
    ['template', 'gw', chart, '--namespace', 'shop', '--dry-run=server', '--values', `${folder}/values.yaml`],
    { env: { ...process.env, KUBECONFIG: `${folder}/kubeconfig`, HELM_CACHE_HOME: folder, HOME: folder } },
  ).finally(() => {
    server.closeAllConnections();
    server.close();
  });
  return only(readManifests(stdout), 'Deployment').spec?.replicas;
}

function responses(live: number | undefined): Record<string, unknown> {
  const name = 'gw-tenancy-gateway';
  const deployments = { name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['get'] };
  return {
    '/version': { major: '1', minor: '36', gitVersion: 'v1.36.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/api/v1': { kind: 'APIResourceList', groupVersion: 'v1', resources: [] },
    '/apis': {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [
        {
          name: 'apps',
          versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
          preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
        },
      ],
    },
    '/apis/apps/v1': { kind: 'APIResourceList', groupVersion: 'apps/v1', resources: [deployments] },
    ...(live !== undefined && {
      [`/apis/apps/v1/namespaces/shop/deployments/${name}`]: {
        kind: 'Deployment',
        apiVersion: 'apps/v1',
        metadata: { name, namespace: 'shop' },
        spec: { replicas: live },
      },
    }),
  };
}

function kubeconfig(port: number): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'one', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'one', user: {} }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    'current-context': 'one',
  });
}
