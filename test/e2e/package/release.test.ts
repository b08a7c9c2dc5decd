import t from 'tap';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { withoutHelm } from '../../support/chart-tools.ts';
import { readText, readYaml, runHelm, template, type Values } from '../../support/helm.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { version, dependencies, devDependencies } = JSON.parse(readText('package.json')) as {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

t.test(
  'a release holds the package, charts that render as the sources do, and a bill of materials',
  { skip: withoutHelm },
  async (t) => {
    const out = t.testdir({});
    const made = release(out, `v${version}`);
    t.equal(made.status, 0, made.stderr);
    const chartVersion = (name: string): string =>
      (readYaml(`helm/${name}/Chart.yaml`) as { version: string }).version;
    const charts = ['tenancy-gateway', 'tenancy-gateway-sidecar'].map(
      (name) => `${name}-${chartVersion(name)}.tgz`,
    );
    t.same(readdirSync(out).sort(), [
      'SHA256SUMS',
      'charts',
      'notes.md',
      `tenancy-gateway-${version}.cdx.json`,
      `tenancy-gateway-${version}.tgz`,
    ]);
    t.same(readdirSync(`${out}/charts`).sort(), charts.sort());
    const checked = spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' });
    t.equal(checked.status, 0, checked.stdout);

    const values = readYaml('examples/front-gateway/values.yaml') as Values;
    const packed = runHelm(['template', 'gw', `${out}/charts/${charts[0]}`, '--namespace', 'shop'], values);
    t.equal(packed.text, template(values).text, packed.complaint);

    const bill = JSON.parse(readFileSync(`${out}/tenancy-gateway-${version}.cdx.json`, 'utf8')) as {
      bomFormat: string;
      components: { name: string; group?: string }[];
    };
    t.equal(bill.bomFormat, 'CycloneDX');
    const names = bill.components.map(({ name, group }) => (group ? `${group}/${name}` : name));
    for (const name of Object.keys(dependencies)) t.ok(names.includes(name), name);
    for (const name of ['tap', 'eslint', 'typescript']) {
      t.ok(name in devDependencies);
      t.notOk(names.includes(name), `${name} is for development alone`);
    }
    t.match(readFileSync(`${out}/notes.md`, 'utf8'), /\S/);
  },
);

t.test('a tag of another version is refused', async (t) => {
  const { status, stderr } = release(t.testdir({}), 'v9.9.9');
  t.not(status, 0);
  t.match(stderr, /the tag is v9\.9\.9/);
});

t.test(
  'the workflow publishes after all tests, with a bill of materials and provenance, and no more rights than that takes',
  async (t) => {
    interface Step {
      readonly uses?: string;
      readonly run?: string;
      readonly with?: Record<string, unknown>;
    }
    const workflow = parse(readText('.github/workflows/release.yml')) as {
      permissions: Record<string, string>;
      jobs: Record<
        string,
        { uses?: string; needs?: string; permissions?: Record<string, string>; steps?: Step[] }
      >;
    };
    t.same(workflow.permissions, { contents: 'read' });
    const { tests, image, 'package-and-charts': rest } = workflow.jobs;
    t.equal(tests?.uses, './.github/workflows/ci.yml');
    t.equal(image?.needs, 'tests');
    t.equal(rest?.needs, 'image');
    const build = image?.steps?.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    t.match(build?.with, { sbom: true, provenance: 'mode=max', push: true });
    const dockerfile = readText('Dockerfile');
    for (const [, name = ''] of String(build?.with?.['build-args']).matchAll(/^(\w+)=/gm))
      t.match(dockerfile, `ARG ${name}`, 'the Dockerfile takes it');
    for (const { uses, with: inputs } of [...(image?.steps ?? []), ...(rest?.steps ?? [])]) {
      if (uses === undefined) continue;
      t.match(uses, /@v\d+$/);
      if (uses.startsWith('actions/checkout@')) t.equal(inputs?.['persist-credentials'], false);
    }
  },
);

function release(...args: string[]): { status: number | null; stderr: string } {
  return spawnSync('bash', ['.ci/release', ...args], { cwd: root, encoding: 'utf8' });
}
