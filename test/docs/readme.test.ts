// class: built
import t, { type Test } from 'tap';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { httpClient } from '../support/http-client.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, cli, startProcess, tempFolder } from '../support/process.ts';
import { unusedPort } from '../servers/unused-port.mjs';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const pages = [
  ...readdirSync(root),
  ...readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

t.test('the scripts that README and docs name are there, and so are their files', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const page of pages)
    for (const [, name = ''] of read(page).matchAll(/\bnpm (?:run )?(start|test|(?<=run )[a-z0-9:-]+)/g))
      t.ok(name in scripts, `${page}: ${name}`);
  for (const [name, command] of Object.entries(scripts))
    for (const [file] of command.matchAll(/[a-z0-9/-]+\.m?[jt]s\b/g))
      t.ok(existsSync(new URL(file, root)), `${name}: ${file}`);
});

/** Runs README's commands for a first account and a key of it, in order. */
async function runCommands(t: Test, env: Readonly<Record<string, string>>, pattern: RegExp) {
  const commands = [...read('README.md').matchAll(pattern)].map((match) => match[1] ?? '');
  t.equal(commands.length, 2);
  let accountId = '';
  let key = '';
  for (const command of commands) {
    const args = [...command.replace(/<account-id>|ACCOUNT_ID/, accountId).matchAll(/"([^"]*)"|(\S+)/g)];
    const { code, stdout, stderr } = await cli(
      env,
      '--json',
      ...args.map(([, quoted, bare]) => quoted ?? bare ?? ''),
    );
    t.equal(code, 0, stderr);
    const made = JSON.parse(stdout) as { id: string; api_key?: string };
    if (made.api_key === undefined) accountId = made.id;
    else key = made.api_key;
  }
  return { accountId, key };
}

t.test(
  'README’s recipe for Docker: its variables start the gateway, and its commands wait for it',
  async (t) => {
    const [recipe = ''] = /^docker network create [^]*?(?=^```)/m.exec(read('README.md')) ?? [];
    const [, run = ''] = /^docker run (.*--name gateway [^]*?)\n(?! )/m.exec(recipe) ?? [];
    const variables = [...run.matchAll(/--env ([A-Z_]+)=/g)].map((match) => match[1] ?? '');
    t.same(variables, ['DATABASE_URL', 'UPSTREAM_URL', 'ADMIN_TOKEN']);
    t.match(read('Dockerfile'), /ln -s \/app\/dist\/cli\.js \/usr\/local\/bin\/tenancy-gateway/);
    const { env } = await startProcess(t, {
      DATABASE_URL: await freshDatabase(t),
      UPSTREAM_URL: 'http://127.0.0.1:9',
      ADMIN_TOKEN: 'a-token-of-the-operator-of-this-test',
    });
    const [, ready = ''] = /^until docker exec gateway tenancy-gateway (\w+) /m.exec(recipe) ?? [];
    await eventually(async () => (await cli(env, ready)).code === 0);
    const { key } = await runCommands(t, env, /^docker exec gateway tenancy-gateway (.+)$/gm);
    t.match(key, /^tgw_/);
  },
);

t.test(
  'README’s recipe for an API of one’s own works, before the service of docs/upstreams.md',
  async (t) => {
    const recipe = /^export (DATABASE_URL=.*)\nnode .* (dist\/main\.js)$/m.exec(read('README.md'));
    const variables = [...(recipe?.[1] ?? '').matchAll(/([A-Z_]+)=/g)].map((match) => match[1]);
    t.same(variables, ['DATABASE_URL', 'UPSTREAM_URL']);
    t.equal(read('README.md').match(/^export ADMIN_TOKEN=/gm)?.length, 2, 'in each of the two terminals');

    const port = await unusedPort();
    const service = /```js\n([^]*?)```/.exec(read('docs/upstreams.md'))?.[1] ?? '';
    t.match(service, /listen\(3000, /);
    const file = join(tempFolder(t), 'service.mjs');
    writeFileSync(file, service.replace('3000', String(port)));
    const upstream = spawn(process.execPath, [file], { stdio: 'ignore' });
    t.teardown(() => upstream.kill('SIGKILL'));
    const { url, internalUrl, env } = await startProcess(t, {
      DATABASE_URL: await freshDatabase(t),
      UPSTREAM_URL: `http://127.0.0.1:${port}`,
      ADMIN_TOKEN: 'a-token-of-the-operator-of-this-test',
    });
    await becomes(internalUrl, 200);

    const { accountId, key } = await runCommands(t, env, /^tenancy-gateway (.+)$/gm);

    const call = httpClient(t, url);
    // The service may still be on its way up.
    await eventually(async () => (await call('GET', '/shipments', { key })).status === 200);
    t.same((await call('GET', '/shipments', { key })).body, { tenant: accountId, shipments: [] });
  },
);
