// class: contract
import t from 'tap';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { readText } from '../../support/helm.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

t.test('a tag of another version is refused', async (t) => {
  const { status, stderr } = spawnSync('bash', ['.ci/release', t.testdir({}), 'v9.9.9'], {
    cwd: root,
    encoding: 'utf8',
  });
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
    const publishing = workflow.jobs['package-and-charts']?.steps?.map(({ run = '' }) => run).join('\n');
    for (const script of ['.ci/release out', '.ci/push-charts out']) t.match(publishing, script);
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
