// class: night
import t from 'tap';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';
import { unusedPort } from '../../servers/unused-port.mjs';
import { withoutHelm } from '../../support/chart-tools.ts';
import { readText, readYaml, runHelm, template, type Values } from '../../support/helm.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { version, dependencies, devDependencies } = JSON.parse(readText('package.json')) as {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

const registry = [`${root}.cache/tools/crane`].find((file) => existsSync(file));

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
      'acting-tenant.json',
      'charts',
      'gateway.schema.json',
      'notes.md',
      'operator.json',
      'sub-accounts.json',
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

t.test(
  'the charts of a release are installed from a registry, as README says, without naming the image',
  {
    skip:
      withoutHelm ||
      (registry === undefined && 'NO crane ON THIS MACHINE: no chart was pushed (scripts/ci-tools.sh)'),
  },
  async (t) => {
    const out = t.testdir({});
    const made = release(out, `v${version}`, { IMAGE: 'ghcr.io/acme/gateway' });
    t.equal(made.status, 0, made.stderr);
    const port = await unusedPort();
    const served = spawn(registry ?? '', ['registry', 'serve', '--address', `127.0.0.1:${port}`], {
      stdio: 'ignore',
    });
    t.teardown(() => served.kill('SIGKILL'));
    await eventually(
      async () => (await fetch(`http://127.0.0.1:${port}/v2/`).catch(() => null))?.ok === true,
    );
    const charts = `oci://127.0.0.1:${port}/charts`;
    const pushed = spawnSync('bash', ['.ci/push-charts', out, charts, '--plain-http'], {
      cwd: root,
      encoding: 'utf8',
    });
    t.equal(pushed.status, 0, pushed.stderr);

    const [, command = ''] = /^helm install (gateway oci:[^]*?)^```/m.exec(readText('README.md')) ?? [];
    const args = command
      .replaceAll('\\\n', ' ')
      .replace('oci://ghcr.io/OWNER/REPOSITORY/charts', charts)
      .replace(`--version ${version.replace(/[-.]dev$/, '')} `, `--version ${version} `)
      .trim()
      .split(/ +/);
    const { text, complaint } = runHelm(['template', ...args, '--plain-http'], {});
    t.match(text, `image: ghcr.io/acme/gateway:${version}\n`, complaint);
    t.match(text, 'kind: Deployment');
  },
);

function release(
  folder: string,
  tag: string,
  env: Readonly<Record<string, string>> = {},
): { status: number | null; stderr: string } {
  const options = { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } } as const;
  return spawnSync('bash', ['.ci/release', folder, tag], options);
}
