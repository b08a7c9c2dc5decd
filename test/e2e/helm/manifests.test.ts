// class: chart
import t from 'tap';
import { parse } from 'yaml';
import { withoutHelm, withoutSchemas } from '../../support/chart-tools.ts';
import { chartTest, readYaml, render, valuesFiles, type Values } from '../../support/helm.ts';
import { kubernetesCheck, kubernetesVersions } from '../../support/kubernetes-schemas.ts';
import { configOf, only, podOf, selects } from '../../support/manifest.ts';
import { withValue } from '../../support/values.ts';

const minimal = readYaml('helm/tenancy-gateway/ci/minimal.yaml') as Values;
const cases = withoutHelm ? [] : [...valuesFiles()].map(([file, values]) => ({ file, all: render(values) }));

t.test(
  'Kubernetes accepts every manifest, from the oldest version promised to the newest',
  {
    skip: withoutHelm || withoutSchemas,
  },
  async (t) => {
    t.ok(kubernetesVersions.length > 1, 'more than one version');
    for (const version of kubernetesVersions) {
      const check = kubernetesCheck(version);
      t.match(
        check({
          apiVersion: 'v1',
          kind: 'Service',
          metadata: { name: 'x' },
          spec: { sellector: {} } as never,
        }),
        [/sellector/],
      );
      for (const { file, all } of cases) t.same(all.flatMap(check), [], `${file} in ${version}`);
    }
  },
);

chartTest(
  'every pod is held to the restricted Pod Security Standard and cannot write to its image',
  async (t) => {
    for (const { file, all } of cases) {
      for (const { kind, spec } of all.map((one) => ({ kind: one.kind, spec: podOf(one)?.spec }))) {
        if (!spec) continue;
        const what = `${kind} of ${file}`;
        t.match(
          spec.securityContext,
          { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          what,
        );
        t.equal(spec.automountServiceAccountToken, false, `${what} gets no token for the Kubernetes API`);
        const own = spec.containers.filter(({ name }) => ['gateway', 'migrate', 'ready'].includes(name));
        t.equal(own.length, 1, what);
        for (const { securityContext, resources } of own) {
          t.match(
            securityContext,
            {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'], add: undefined },
            },
            what,
          );
          t.ok(resources?.requests && resources.limits, `${what} says what it needs and takes at most`);
        }
      }
    }
  },
);

chartTest(
  'Services, budgets and policies find the serving pods and no other pod of the release',
  async (t) => {
    for (const { file, all } of cases) {
      const serving = podOf(only(all, 'Deployment'))?.labels ?? {};
      const others = all
        .filter(({ kind }) => kind === 'Job' || kind === 'Pod')
        .map((one) => podOf(one)?.labels ?? {});
      t.ok(others.length > 0, 'there are others');
      for (const { kind, metadata, spec } of all) {
        const selector = {
          Service: spec?.selector,
          Deployment: spec?.selector?.matchLabels,
          PodDisruptionBudget: spec?.selector?.matchLabels,
          NetworkPolicy: spec?.podSelector?.matchLabels,
        }[kind];
        if (!selector) continue;
        t.ok(selects(selector, serving), `${kind} ${metadata.name} of ${file} finds the pods`);
        for (const labels of others)
          t.notOk(selects(selector, labels), `${kind} ${metadata.name} of ${file}`);
      }
    }
  },
);

chartTest('ports are named alike in the pod, its probes and its Services, and none is shared', async (t) => {
  for (const { file, all } of cases) {
    const [gateway] = podOf(only(all, 'Deployment'))?.spec.containers ?? [];
    const names = gateway?.ports?.map(({ name }) => name) ?? [];
    const portal = all.some(({ metadata }) => metadata.name.endsWith('-portal')) ? ['portal'] : [];
    t.same(names, ['http', 'internal', ...portal], file);
    const numbers = gateway?.ports?.map(({ containerPort }) => containerPort);
    t.same(numbers, [8080, 9090, ...portal.map(() => 8081)], 'where the gateway listens');
    const { startupProbe, livenessProbe, readinessProbe } = gateway ?? {};
    t.same(
      [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet),
      ['/livez', '/livez', '/readyz/listening'].map((path) => ({ path, port: 'internal' })),
    );
    const targets = all
      .filter(({ kind }) => kind === 'Service')
      .map(({ spec }) => [spec?.type, spec?.ports?.map(({ targetPort }) => targetPort).join()]);
    t.same(
      targets.map(([, target]) => target),
      ['http', 'internal', ...portal],
      'one port a Service',
    );
    t.same(
      targets.slice(1).map(([type]) => type),
      ['ClusterIP', ...portal.map(() => 'ClusterIP')],
      'the internal port stays in the cluster, whatever the public one does',
    );
  }
});

chartTest(
  'a network policy opens the internal port to its own release and to those it names alone',
  async (t) => {
    for (const { file, all } of cases) {
      for (const { spec } of all.filter(({ kind }) => kind === 'NetworkPolicy')) {
        const internal = spec?.ingress?.filter(({ ports }) => ports.some(({ port }) => port === 'internal'));
        t.equal(internal?.length, 1, file);
        t.ok(
          internal?.every(({ from }) => from && from.length > 0),
          'an empty list would mean every pod',
        );
      }
    }
  },
);

chartTest(
  'there is one unless it is switched off, since the internal port is open to all pods',
  async (t) => {
    for (const [file, { networkPolicy = {} }] of valuesFiles() as Map<string, { networkPolicy?: object }>) {
      const isOff = 'enabled' in networkPolicy && networkPolicy.enabled === false;
      const policies = cases
        .find((one) => one.file === file)
        ?.all.filter(({ kind }) => kind === 'NetworkPolicy');
      t.equal(policies?.length, isOff ? 0 : 1, file);
    }
  },
);

chartTest('a pod has time to leave: longer than preStop and the drain together', async (t) => {
  for (const { file, all } of cases) {
    const { spec } = podOf(only(all, 'Deployment')) ?? {};
    const config = configOf(only(all, 'Deployment'));
    const drainMs = Number(/^drain_ms: (\d+)/m.exec(config)?.[1] ?? 25_000);
    const preStop = spec?.containers[0]?.lifecycle?.preStop?.sleep?.seconds ?? 0;
    t.ok((spec?.terminationGracePeriodSeconds ?? 0) * 1000 > preStop * 1000 + drainMs, file);
  }
});

chartTest('a pod reads the configuration of its own revision, which no other one has', async (t) => {
  const own = {
    upstream_url: 'http://shop:8080',
    drain_ms: 20_000,
    drain_idle_ms: 4_000,
    limits: { max_headers: 50, reads_per_second: 3 },
    routes: [{ prefix: '/a', upstream: 'http://a:1', scopes: { read: 'x' }, websockets: 3 }],
  };
  const all = render(withValue(minimal, ['config'], own));
  const deployment = only(all, 'Deployment');
  t.same(parse(configOf(deployment)), own);
  t.notOk(all.some(({ kind }) => kind === 'ConfigMap'));
  const { volumes } = podOf(deployment)?.spec ?? {};
  t.same(
    volumes?.find(({ name }) => name === 'config'),
    {
      name: 'config',
      downwardAPI: {
        items: [
          {
            path: 'gateway.yaml',
            fieldRef: { fieldPath: "metadata.annotations['tenancy-gateway/config']" },
          },
        ],
      },
    },
  );
});

chartTest('secrets reach pods by reference alone', async (t) => {
  for (const { file, all } of cases) {
    const secrets = all.flatMap((one) => (one.kind === 'Secret' ? Object.values(one.stringData ?? {}) : []));
    const rest = JSON.stringify(all.filter(({ kind }) => kind !== 'Secret'));
    for (const secret of secrets) t.notOk(rest.includes(secret), `${file} holds one in clear text elsewhere`);
    for (const { env = [] } of all.flatMap((one) => podOf(one)?.spec.containers ?? [])) {
      const names = env.map(({ name }) => name);
      t.equal(new Set(names).size, names.length, `${file}: no variable twice`);
      for (const { name, value } of env)
        if (/_URL$|TOKEN$/.test(name)) t.equal(value, undefined, `${file}: ${name} comes from a Secret`);
    }
  }
});

chartTest('pods are replaced when what they read at start changes, and not otherwise', async (t) => {
  const before = readYaml('helm/tenancy-gateway/ci/trial.yaml') as Values;
  const pods = (values: Values): unknown => only(render(values), 'Deployment').spec?.template;
  const unchanged = pods(before);
  t.notSame(pods(withValue(before, ['config', 'log', 'level'], 'debug')), unchanged, 'the configuration');
  t.notSame(pods(withValue(before, ['admin', 'token'], 'f'.repeat(40))), unchanged, 'a secret of the chart');
  t.same(pods(withValue(before, ['service', 'port'], 8080)), unchanged, 'a port of the Service');
  t.same(pods(withValue(before, ['replicas'], 5)), unchanged, 'the number of replicas');
});

chartTest(
  'a migration Job that failed goes with the release: Helm replaces it by one that makes no pod, and deletes that',
  async (t) => {
    const jobs = render(readYaml('helm/tenancy-gateway/ci/full.yaml') as Values).filter(
      ({ kind }) => kind === 'Job',
    );
    t.equal(new Set(jobs.map(({ metadata }) => metadata.name)).size, 1, 'they have one name');
    t.match(
      jobs.map(({ metadata, spec }) => ({ annotations: metadata.annotations, spec })),
      [
        {
          annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade' },
          spec: { ttlSecondsAfterFinished: Number },
        },
        {
          annotations: {
            'helm.sh/hook': 'post-delete',
            'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded,hook-failed',
          },
          spec: { completions: 0, parallelism: 0 },
        },
      ],
    );
  },
);
