import t, { type Test } from 'tap';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes } from '../../support/process.ts';
import { unusedPort } from '../../support/unused-port.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const run = promisify(execFile);

t.test('what npm packs can be installed into an empty folder, and its command runs a gateway', async (t) => {
  const folder = t.testdir({ 'package.json': '{}' });
  const tarball = await pack(folder);
  const files = (await run('tar', ['-tzf', tarball])).stdout.split('\n');
  for (const file of [
    'dist/cli.js',
    'dist/main.js',
    'dist/client/client.js',
    'dist/client/client.d.ts',
    'dist/worker.js',
    'config/gateway.yaml',
    'README.md',
    'LICENSE',
  ])
    t.ok(files.includes(`package/${file}`), file);
  t.same(
    files.filter((file) =>
      /\.map$|(?<!^package\/dist\/client\/\w+\.d)\.ts$|\/\.|^package\/(?:test|src|scripts)\//.test(file),
    ),
    [],
    'nothing that only its development needs',
  );

  await install(folder, tarball);
  const command = join(folder, 'node_modules/.bin/tenancy-gateway');
  const say = async (...args: string[]): Promise<string> =>
    (await run(command, args, { cwd: folder })).stdout;
  t.equal((await say('--version')).trim(), version);
  t.match(await say('--help'), /^ {2}serve .*run the gateway/m);
  t.match(
    await say('config', 'check', 'node_modules/tenancy-gateway/config/gateway.yaml'),
    /The configuration is good/,
  );

  for (const workers of ['1', '2']) await serves(t, command, workers);
});

/** From dist/ as it is: tests of other files run from there. */
async function pack(folder: string): Promise<string> {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', args, { cwd: root });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  return join(folder, packed?.filename ?? '');
}

/** Without a registry: what the package depends on is there already, and npm finds that it satisfies it. */
async function install(folder: string, tarball: string): Promise<void> {
  const { packages } = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, { dev }] of Object.entries(packages))
    if (path !== '' && dev !== true && existsSync(root + path) && !path.includes('/node_modules/'))
      cpSync(root + path, join(folder, path), { recursive: true });
  await run('npm', ['install', '--offline', '--ignore-scripts', tarball], { cwd: folder });
}

async function serves(t: Test, command: string, workers: string): Promise<void> {
  const [port, internalPort] = [await unusedPort(), await unusedPort()];
  const env = {
    PATH: process.env['PATH'] ?? '',
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
  t.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 401, `${workers} workers`);
  gateway.kill('SIGTERM');
  t.same(await ended, [0, null], 'it drains, and ends well');
}
