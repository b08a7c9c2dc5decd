// class: chart
import t from 'tap';
import { loadConfig } from '../../../src/config/load.ts';
import { withoutSchemas } from '../../support/chart-tools.ts';
import { chartTest, readManifests, readText, readYaml, render, type Values } from '../../support/helm.ts';
import { kubernetesCheck, kubernetesVersions } from '../../support/kubernetes-schemas.ts';
import { only, podOf, selects } from '../../support/manifest.ts';

const files = ['examples/sidecar/shop.yaml', 'examples/front-gateway/only-the-gateway.yaml'];

t.test('Kubernetes accepts the manifests of the examples', { skip: withoutSchemas }, async (t) => {
  for (const version of kubernetesVersions) {
    const check = kubernetesCheck(version);
    for (const file of files)
      t.same(readManifests(readText(file)).flatMap(check), [], `${file} in ${version}`);
  }
});

chartTest(
  'the policy of the front gateway lets in the pods of the chart, and none of another name',
  async (t) => {
    const policy = only(
      readManifests(readText('examples/front-gateway/only-the-gateway.yaml')),
      'NetworkPolicy',
    );
    const [peer] = policy.spec?.ingress?.[0]?.from ?? [];
    const { podSelector } = peer as { podSelector: { matchLabels: Record<string, string> } };
    const values = readYaml('examples/front-gateway/values.yaml') as Values;
    t.ok(selects(podSelector.matchLabels, podOf(only(render(values), 'Deployment'))?.labels ?? {}));
  },
);

t.test('on one machine: the gateway accepts its variables, and nothing else is published', async (t) => {
  interface Service {
    readonly ports?: readonly string[];
    readonly environment: Record<string, string>;
    readonly read_only?: boolean;
  }
  const { services } = readYaml('examples/compose/compose.yaml') as { services: Record<string, Service> };
  const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => `${name} ${port}`),
  );
  t.same(published, ['gateway 127.0.0.1:${GATEWAY_PORT:-8080}:8080']);
  const { environment, read_only: readOnly } = services['gateway'] as Service;
  const token = environment['ADMIN_TOKEN']?.replace(/^\$\{ADMIN_TOKEN:-(.*)\}$/, '$1') ?? '';
  const loaded = loadConfig({ ...environment, ADMIN_TOKEN: token });
  t.match(loaded, {
    config: { store: { kind: 'postgres' }, routes: [{ prefix: '/', upstream: 'http://app:3000' }] },
  });
  t.equal(readOnly, true);
});
