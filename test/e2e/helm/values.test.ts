// class: chart
import t from 'tap';
import { Ajv } from 'ajv';
import { cpSync, renameSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import {
  accepts,
  chartTest,
  readText,
  readYaml,
  refuses,
  render,
  runHelm,
  chart,
  template,
  valuesFiles,
  type Values,
} from '../../support/helm.ts';
import { only } from '../../support/manifest.ts';
import { at, leaves, sections, withValue } from '../../support/values.ts';

const defaults = readYaml('helm/tenancy-gateway/values.yaml') as Values;
const schema = JSON.parse(readText('helm/tenancy-gateway/values.schema.json')) as object;
const minimal = readYaml('helm/tenancy-gateway/ci/minimal.yaml') as Values;
const cases = [...valuesFiles()];

/** The smallest values with another one. @param path with dots */
const having = (path: string, value: unknown): Values => withValue(minimal, path.split('.'), value);

chartTest('every value changes what is installed', async (t) => {
  const rendered = new Map(cases.map(([file, values]) => [file, template(values).text]));
  for (const path of leaves(defaults)) {
    const name = path.join('.');
    const byDefault = at(defaults, path);
    const setting = cases.filter(
      ([, values]) => !isDeepStrictEqual(at(values, path) ?? byDefault, byDefault),
    );
    t.ok(setting.length > 0, `${name} has a case in ci/ that sets it`);
    const matters = setting.some(([file, values]) => {
      const without = template(withValue(values, path, byDefault));
      return !without.ok || without.text !== rendered.get(file);
    });
    t.ok(matters, `${name} matters`);
  }
});

t.test('a key that no value has is rejected, wherever it stands', async (t) => {
  const validate = new Ajv({ strict: false }).compile(schema);
  for (const path of sections(defaults)) {
    const name = [...path, 'typo'].join('.');
    t.ok(validate(withValue(defaults, path, at(defaults, path))), 'the defaults are accepted');
    t.notOk(validate(withValue(defaults, [...path, 'typo'], 1)), `${name} is rejected`);
  }
});

chartTest('Helm rejects it, too, and a key that the gateway would reject', async (t) => {
  const rejected: [string, unknown, RegExp][] = [
    ['replcias', 3, /replcias/],
    ['ingress.enable', true, /enable/],
    ['config.limits.max_header', 3, /max_header/],
    ['config.drain_ms', '25s', /drain_ms/],
    ['config.listen.port', 80, /port/],
    ['config.database.url', 'postgres://u:p@h/d', /url/],
    ['config.database.direct_url', 'postgres://u:p@h/d', /direct_url/],
    ['image.digest', 'latest', /digest/],
  ];
  for (const [path, value, complaint] of rejected) refuses(t, having(path, value), complaint);
});

chartTest('what is missing or cannot work together is said at once, and nothing is installed', async (t) => {
  const { ok, complaint } = template({
    migrations: { job: { enabled: true } },
    ingress: { enabled: true },
    httpRoute: { enabled: true },
    autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 3 },
    terminationGracePeriodSeconds: 29,
    extraEnv: [{ name: 'HOST' }, { name: 'PORT' }],
    commonLabels: { 'example.com/team': 'edge', 'helm.sh/chart': 'mine' },
    podLabels: { 'app.kubernetes.io/component': 'mine' },
  });
  t.notOk(ok);
  const named = [...complaint.matchAll(/^ {2}- ([\w.]+):/gm)].map(([, name]) => name);
  t.same(named, [
    'image.repository',
    'database',
    'config',
    'migrations.job',
    'ingress.hosts',
    'httpRoute.parentRefs',
    'autoscaling',
    'extraEnv',
    'commonLabels',
    'podLabels',
    'terminationGracePeriodSeconds',
  ]);
});

chartTest('values that a pod would end with are refused before anything is changed', async (t) => {
  const upstream = 'http://shop:8080';
  const wrong: [string, unknown, RegExp][] = [
    ['config.upstream_url', 'shop:8080', /config.upstream_url: "shop:8080" is not a URL/],
    ['config.routes', [{ prefix: 'a', upstream }], /config.routes: the prefix "a" does not begin with/],
    [
      'config.routes',
      [
        { prefix: '/a', upstream },
        { prefix: '/a', upstream },
      ],
      /config.routes: two routes/,
    ],
    ['config.trusted_proxies', ['10.0.0.0/33'], /config.trusted_proxies: "10.0.0.0.33" is no address/],
    [
      'config.listen',
      { tls: { cert_file: '/tls/a.pem', key_file: '/tls/b.pem' } },
      /config.listen.tls.cert_file: no extraVolumeMounts/,
    ],
    ['resources.limits.memory', '64Mi', /resources.limits.memory: 64Mi is too little/],
    ['podDisruptionBudget.minAvailable', 2, /podDisruptionBudget.minAvailable: 2 of 2/],
    ['admin.token', 'abc', /admin.token: shorter than 16 characters/],
    ['config.drain_idle_ms', 30_000, /config.drain_idle_ms: longer than config.drain_ms/],
  ];
  for (const [path, value, complaint] of wrong) refuses(t, having(path, value), complaint);
  const right: [string, unknown][] = [
    ['config.trusted_proxies', ['10.0.0.0/8', '192.0.2.1', 'fd00::/8', '::1']],
    ['podDisruptionBudget.minAvailable', 1],
    ['admin.token', '0123456789abcdef'],
    ['resources.limits.memory', '256Mi'],
  ];
  for (const [path, value] of right) accepts(t, having(path, value), path);
});

chartTest(
  'a disruption budget leaves room for a node drain among the pods that the chart knows of',
  async (t) => {
    const budget = (minAvailable: number | string, more: object) => ({
      ...minimal,
      podDisruptionBudget: { minAvailable },
      ...more,
    });
    const autoscaling = { enabled: true, minReplicas: 3 };
    for (const [minAvailable, more] of [
      [1, { replicas: null }],
      [2, { autoscaling }],
      [2, { autoscaling, replicas: null }],
      ['90%', { autoscaling }],
    ] as const)
      accepts(t, budget(minAvailable, more), JSON.stringify([minAvailable, more]));
    for (const more of [{ autoscaling }, { autoscaling, replicas: null }, { replicas: 3 }])
      refuses(t, budget(3, more), /minAvailable: 3 of 3 replicas must stay/);
  },
);

chartTest('no label or annotation is given twice: the more special one wins', async (t) => {
  const team = { 'example.com/team': 'shop' };
  const evict = { 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes': 'usage,other' };
  // A key given twice is an error here.
  const all = render({
    ...minimal,
    commonLabels: { 'example.com/team': 'edge' },
    service: { labels: team },
    ingress: { enabled: true, hosts: ['api.example.com'], labels: team },
    httpRoute: { enabled: true, parentRefs: [{ name: 'public' }], labels: team },
    monitoring: {
      serviceMonitor: { enabled: true, labels: team },
      prometheusRule: { enabled: true, labels: team },
      dashboard: { enabled: true, labels: team },
    },
    podAnnotations: evict,
  });
  const labelled = all.filter(({ metadata }) => metadata.labels?.['example.com/team'] === 'shop');
  t.same(labelled.map(({ kind }) => kind).sort(), [
    'ConfigMap',
    'HTTPRoute',
    'Ingress',
    'PrometheusRule',
    'Service',
    'ServiceMonitor',
  ]);
  for (const { metadata } of all) t.equal(metadata.labels?.['app.kubernetes.io/name'], 'tenancy-gateway');
  t.match(only(all, 'Deployment').spec?.template?.metadata, { annotations: evict });
  for (const name of ['tenancy-gateway/config', 'checksum/secret']) {
    const values = { ...minimal, podAnnotations: { [name]: 'mine' } };
    refuses(t, values, `podAnnotations: ${name} is set by the chart`);
  }
});

chartTest('what is wrong with the name of the image is said in words', async (t) => {
  const wrong: [string, RegExp][] = [
    ['', /image.repository: say where the cluster pulls/],
    ['registry.example.com/gateway:1.2.3', /image.repository: .* has a tag or a digest/],
    ['registry.example.com/gateway@sha256:0', /image.repository: .* has a tag or a digest/],
    ['https://registry.example.com/gateway', /image.repository: .* without https/],
    ['registry.example.com/Gateway', /image.repository: .* in lower case/],
  ];
  const named = (name: string) => having('image.repository', name);
  for (const [name, complaint] of wrong) refuses(t, named(name), complaint);
  for (const name of ['gateway', 'registry:5000/edge/gateway', '10.0.0.1/a_b.c'])
    accepts(t, named(name), name);
});

chartTest('several workers need the memory of several pods', async (t) => {
  for (const [workers, memory, complaint] of [
    [1, '256Mi', null],
    [2, '512Mi', /resources.limits.memory: 512Mi is too little for config.workers: 2/],
    [2, '1G', /resources.limits.memory/],
    [2, '1Gi', null],
    [4, '2.5Gi', null],
    [4, '1536Mi', /resources.limits.memory/],
    [2, 1073741824, null],
    ['auto', '8Gi', /config.workers: auto/],
  ] as const) {
    const values = having('config.workers', workers);
    const limited = withValue(values, ['resources', 'limits', 'memory'], memory);
    if (complaint === null) accepts(t, limited, `${workers} in ${memory}`);
    else refuses(t, limited, complaint);
  }
});

chartTest('Helm finds nothing to warn of', async (t) => {
  for (const [file, values] of cases) {
    const { ok, text } = runHelm(['lint', '--strict', chart], values);
    t.ok(ok, `${file}: ${text}`);
  }
});

chartTest('the notes name the next three commands', async (t) => {
  // Helm shows notes to a cluster alone, so they are rendered as a file of a copy.
  const copy = t.testdir({});
  cpSync(chart, copy, { recursive: true });
  renameSync(`${copy}/templates/NOTES.txt`, `${copy}/files/NOTES.txt`);
  writeFileSync(`${copy}/templates/notes.yaml`, 'text: {{ tpl (.Files.Get "files/NOTES.txt") . | toJson }}');
  for (const [file, values] of cases) {
    const { text, complaint } = runHelm(
      ['template', 'gw', copy, '--show-only', 'templates/notes.yaml'],
      values,
    );
    const notes = (parse(text) as { text: string } | null)?.text ?? complaint;
    t.match(notes, /1\. [^]*rollout status[^]*2\. [^]*kubectl[^]*3\. /, file);
    t.notMatch(notes, /--from-literal/, 'arguments of a program are visible to others');
  }
});

t.test('values.yaml stays short enough to be read', async (t) => {
  t.ok(readText('helm/tenancy-gateway/values.yaml').split('\n').length <= 300);
});

t.test('a chart among others: what Helm adds for them is accepted', async (t) => {
  t.ok(new Ajv({ strict: false }).compile(schema)({ ...defaults, global: { anything: 1 } }));
});
