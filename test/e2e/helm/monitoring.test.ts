// class: chart
import t from 'tap';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { promtool, withoutPromtool } from '../../support/chart-tools.ts';
import { chart, chartTest, readText, readYaml, render, type Values } from '../../support/helm.ts';
import { only } from '../../support/manifest.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { freshRedis } from '../../support/redis.ts';
import { withValue } from '../../support/values.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations?: {
    readonly summary: string;
    readonly description: string;
    readonly runbook: string;
    readonly runbook_url?: string;
  };
}
/** A part of `alert-cases.yaml`: series, and what fires when they are so. */
interface AlertCases {
  readonly name: string;
  readonly series: Readonly<Record<string, string>>;
  /** Where nothing fires: when that is looked at. */
  readonly silentAt?: readonly string[];
  readonly alerts?: readonly {
    readonly alert: string;
    readonly silent?: string;
    readonly fires?: string;
    readonly as?: readonly Readonly<Record<string, string>>[];
  }[];
}
interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
const { groups } = readYaml('helm/tenancy-gateway/files/alerts.yaml') as {
  groups: { name: string; rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(readText('helm/tenancy-gateway/files/dashboard.json')) as { panels: Panel[] };
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

t.test('alerts and panels ask for what a running gateway shows, and the panels for all of it', async (t) => {
  const { internalUrl } = await startProcess(t, {
    DATABASE_URL: await freshDatabase(t),
    REDIS_URL: await freshRedis(t),
    UPSTREAM_URL: 'http://127.0.0.1:9',
    // What the primary counts is shown as well.
    WORKERS: '2',
  });
  await becomes(internalUrl, 200);
  const scrape = await (await fetch(`${internalUrl}/metrics`)).text();
  const shown = [...scrape.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  );
  for (const expr of [...queries, ...rules.map((rule) => rule.expr)])
    for (const name of metricsIn(expr)) t.ok(shown.includes(name), `${name} is shown`);

  const asked = new Set(queries.flatMap(metricsIn).map((name) => name.replace(/_(?:bucket|count|sum)$/, '')));
  for (const [, name = ''] of scrape.matchAll(/^# TYPE (tenancy_gateway_\S+)/gm))
    t.ok(asked.has(name), `${name} has a panel`);
});

t.test('every alert says what it means and how bad it is', async (t) => {
  for (const { alert, labels, annotations } of rules) {
    t.match(labels.severity, /^(?:critical|warning)$/, alert);
    t.ok(annotations?.summary && annotations.description, alert);
  }
});

t.test('every alert has its part of the runbook, and leads there', async (t) => {
  const headings = [...readText('docs/operating.md').matchAll(/^### (TenancyGateway\w+)$/gm)].map(
    ([, name]) => name,
  );
  t.same(
    headings,
    rules.map(({ alert }) => alert),
  );
  for (const { alert, annotations } of rules)
    t.equal(annotations?.runbook, `docs/operating.md#${alert.toLowerCase()}`);
});

t.test(
  'every alert fires when it should and stays silent when it should',
  { skip: withoutPromtool },
  async (t) => {
    // What is said in words is not the matter here.
    const silent = rules.map(({ annotations: _, ...rule }) => rule);
    const parts = (readYaml('test/e2e/helm/alert-cases.yaml') as AlertCases[]).map(asPromtoolTest);
    const folder = t.testdir({
      'alerts.yaml': stringify({ groups: [{ name: 'tenancy-gateway', rules: silent }] }),
      'cases.yaml': stringify({ rule_files: ['alerts.yaml'], evaluation_interval: '1m', tests: parts }),
    });
    const checked = check('check', 'rules', `${chart}/files/alerts.yaml`);
    t.equal(checked.status, 0, checked.stdout + checked.stderr);
    const tested = check('test', 'rules', `${folder}/cases.yaml`);
    t.equal(tested.status, 0, tested.stdout + tested.stderr);
    const all = parts.flatMap((one) => one.alert_rule_test);
    for (const { alert } of rules) {
      const its = all
        .filter(({ alertname }) => alertname === alert)
        .map(({ exp_alerts: expected }) => expected.length > 0);
      t.ok(its.includes(true) && its.includes(false), `${alert} has a case of each`);
    }
  },
);

t.test('Prometheus itself can read every query of the dashboard', { skip: withoutPromtool }, async (t) => {
  const file = `${t.testdir({})}/queries.yaml`;
  const recorded = queries.map((expr, index) => ({
    record: `query:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(?:namespace|job)/g, '.*'),
  }));
  writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }));
  const { status, stdout, stderr } = check('check', 'rules', file);
  t.equal(status, 0, stdout + stderr);
});

t.test('the panels lie beside each other', async (t) => {
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        if (taken.has(`${x} ${y}`)) t.fail(`${title} lies on ${taken.get(`${x} ${y}`)}`);
        taken.set(`${x} ${y}`, title);
      }
  t.ok(Math.max(...panels.map(({ gridPos }) => gridPos.x + gridPos.w)) <= 24, 'in 24 columns');
});

chartTest('the chart installs alerts and dashboard as they stand', async (t) => {
  const values = readYaml('helm/tenancy-gateway/ci/full.yaml') as Values;
  const all = render(values);
  const runbookUrl = ['monitoring', 'prometheusRule', 'runbookUrl'];
  t.same(only(render(withValue(values, runbookUrl, '')), 'PrometheusRule').spec, { groups });
  const { data } = only(all, 'ConfigMap', 'edge-dashboard');
  t.same(
    JSON.parse(data?.['tenancy-gateway.json'] ?? ''),
    JSON.parse(readText('helm/tenancy-gateway/files/dashboard.json')),
  );
});

chartTest('where the runbook can be read, each alert leads to its part of it', async (t) => {
  const all = render(readYaml('helm/tenancy-gateway/ci/full.yaml') as Values);
  const { spec } = only(all, 'PrometheusRule') as unknown as { spec: { groups: { rules: Rule[] }[] } };
  for (const [index, rule] of spec.groups.flatMap((group) => group.rules).entries()) {
    const { runbook_url: url, ...annotations } = rule.annotations ?? {};
    t.equal(url, `https://git.example.com/gateway/blob/v1.2.3/docs/operating.md#${rule.alert.toLowerCase()}`);
    t.same({ ...rule, annotations }, rules[index], 'and the rest is as it was');
  }
});

/** Names of metrics in a query. */
function metricsIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:tenancy_gateway|nodejs|process)_\w+/g)].map(([name]) => name);
}

function asPromtoolTest({ name, series, silentAt = [], alerts = [] }: AlertCases) {
  const known = Object.keys(series).length > 0 ? { namespace: 'edge', job: 'gw' } : {};
  const rule = (alert: string, at: string, labels: readonly object[]) => ({
    alertname: `TenancyGateway${alert}`,
    eval_time: at,
    exp_alerts: labels.map((each) => ({ exp_labels: { ...known, ...each } })),
  });
  return {
    name,
    interval: '1m',
    input_series: Object.entries(series).map(([key, values]) => {
      const [, metric = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(key) ?? [];
      const pod = labels.includes('pod=') ? [] : ['pod="a"'];
      const all = ['namespace="edge"', 'job="gw"', ...pod, ...(labels === '' ? [] : [labels])];
      return { series: `tenancy_gateway_${metric}{${all.join()}}`, values };
    }),
    alert_rule_test: [
      ...rules.flatMap(({ alert }) =>
        silentAt.map((at) => rule(alert.replace('TenancyGateway', ''), at, [])),
      ),
      ...alerts.flatMap(({ alert, silent, fires, as = [] }) => [
        ...(silent === undefined ? [] : [rule(alert, silent, [])]),
        ...(fires === undefined ? [] : [rule(alert, fires, as)]),
      ]),
    ],
  };
}

function check(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(promtool ?? 'promtool', args, { encoding: 'utf8' });
}
