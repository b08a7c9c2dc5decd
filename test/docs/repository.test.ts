import t from 'tap';
import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly strategy: { readonly matrix: { readonly node: readonly string[] } };
        readonly steps: readonly { readonly run?: string }[];
      }
    >
  >;
}

t.test('the workflow runs .ci/run on the oldest supported Node.js and on newer ones', async (t) => {
  const { engines, version } = JSON.parse(read('package.json')) as {
    engines: { node: string };
    version: string;
  };
  const oldest = engines.node.replace('>=', '');
  const { jobs } = parse(read('.github/workflows/ci.yml')) as Workflow;
  const [job] = Object.values(jobs);
  t.equal(job?.strategy.matrix.node[0], oldest);
  t.ok((job?.strategy.matrix.node.length ?? 0) > 1);
  t.ok(job?.steps.some(({ run }) => run === '.ci/run'));
  t.equal(
    read('.nvmrc').trim(),
    oldest,
    'and .nvmrc names the oldest one, so that nothing newer is used by accident',
  );
  t.match(
    read('CHANGELOG.md'),
    new RegExp(`^## Unreleased\\n[^]*^## ${version} – \\d{4}-\\d\\d-\\d\\d$`, 'm'),
  );
});

t.test('every folder and file that CODEOWNERS names exists', async (t) => {
  const named = [...read('.github/CODEOWNERS').matchAll(/^\/(\S+)/gm)].map(([, path = '']) => path);
  t.ok(named.length > 5);
  for (const path of named) t.ok(existsSync(new URL(`../../${path}`, import.meta.url)), path);
});

t.test('the update bot holds back only packages that the project has', async (t) => {
  const manifest = read('package.json');
  const held = [...read('.github/dependabot.yml').matchAll(/dependency-name: '?([^'\n]+)/g)];
  t.ok(held.length > 0);
  for (const [, name = ''] of held) t.ok(manifest.includes(`"${name}"`), name);
});
