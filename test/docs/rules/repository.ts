import t from 'tap';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';
import { parse } from 'yaml';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

interface Job {
  readonly needs?: string;
  readonly strategy: { readonly matrix: { readonly node: readonly string[] } };
  readonly steps: readonly { readonly run?: string }[];
}

interface Workflow {
  readonly jobs: { readonly fast: Job; readonly 'checks-and-tests': Job };
}

t.test('the workflow runs .ci/run on the oldest supported Node.js and on newer ones', async (t) => {
  const { engines, version } = JSON.parse(read('package.json')) as {
    engines: { node: string };
    version: string;
  };
  const oldest = engines.node.replace('>=', '');
  const { jobs } = parse(read('.github/workflows/ci.yml')) as Workflow;
  const job = jobs['checks-and-tests'];
  t.equal(job.strategy.matrix.node[0], oldest);
  t.ok(job.strategy.matrix.node.length > 1);
  t.ok(job.steps.some(({ run }) => run === '.ci/run'));
  t.equal(job.needs, 'fast', 'after the checks and unit tests, which take three minutes');
  t.ok(jobs.fast.steps.some(({ run }) => run === 'npm run fast'));
  t.equal(
    read('.nvmrc').trim(),
    oldest,
    'and .nvmrc names the oldest one, so that nothing newer is used by accident',
  );
  const released = version.replace(/[-.]dev$/, '');
  const headings = read('CHANGELOG.md').match(/^## .*/gm) ?? [];
  if (released === version) t.match(headings[0], new RegExp(`^## ${version} – \\d{4}-\\d\\d-\\d\\d$`));
  else t.equal(headings[0], `## Unreleased (${released})`);
});

t.test('no command of a page or an example has the token of an operator among its arguments', async (t) => {
  const root = new URL('../../../', import.meta.url);
  const pages = ['docs', 'examples', 'helm'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:md|ya?ml|txt)$/.test(path) && !path.includes('node_modules'))
      .map((path) => `${folder}/${path}`),
  );
  const commands = pages.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => line.includes('create secret')),
  );
  t.ok(commands.length > 5, 'the control');
  for (const path of pages)
    t.notMatch(
      read(path),
      /--from-literal=(?:\S*="?\$\(?|\S*TOKEN)/,
      `${path}: lists of processes show arguments`,
    );
});

t.test('every folder and file that CODEOWNERS names exists', async (t) => {
  const named = [...read('.github/CODEOWNERS').matchAll(/^\/(\S+)/gm)].map(([, path = '']) => path);
  t.ok(named.length > 5);
  for (const path of named) t.ok(existsSync(new URL(`../../../${path}`, import.meta.url)), path);
});

t.test('the update bot holds back only packages that the project has', async (t) => {
  const manifest = read('package.json');
  const held = [...read('.github/dependabot.yml').matchAll(/dependency-name: '?([^'\n]+)/g)];
  t.ok(held.length > 0);
  for (const [, name = ''] of held) t.ok(manifest.includes(`"${name}"`), name);
});

t.test(
  'the development container is what the project runs on, and forwards what it listens on',
  async (t) => {
    // JSON with comments, as TypeScript's own configuration.
    const { config, error } = ts.parseConfigFileTextToJson(
      'devcontainer.json',
      read('.devcontainer/devcontainer.json'),
    ) as {
      config: {
        readonly build: { readonly dockerfile: string };
        readonly remoteUser: string;
        readonly postCreateCommand: string;
        readonly forwardPorts: readonly number[];
        readonly portsAttributes: Readonly<Record<string, unknown>>;
      };
      error?: object;
    };
    t.equal(error, undefined);
    const dockerfile = read(`.devcontainer/${config.build.dockerfile}`);
    const [, line] = /^FROM node:(\d+)-/m.exec(dockerfile) ?? [];
    t.ok(line && read('Dockerfile').includes(`NODE_IMAGE=node:${line}-`), 'the Node.js of the image');
    t.ok(Number(line) >= Number.parseInt(read('.nvmrc')), 'which is not older than the oldest supported one');
    const [, postgres = ''] = / postgresql-(\d+) /.exec(dockerfile) ?? [];
    t.ok(Number(postgres) >= 15 && dockerfile.includes(`/usr/lib/postgresql/${postgres}/bin`));
    t.match(dockerfile, ' redis-server ');

    const ports = [...read('config/gateway.yaml').matchAll(/^ {2}port: (\d+)$/gm)].map(([, port]) =>
      Number(port),
    );
    t.same(config.forwardPorts, ports);
    t.same(Object.keys(config.portsAttributes).map(Number), ports);
    t.match(config, { remoteUser: 'node', postCreateCommand: 'npm ci' });
  },
);
