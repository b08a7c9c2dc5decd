// class: built
/** An API with customers, keys and row-level security of its own moves behind the gateway, by the steps of its README. */
import { execFile, spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { withPorts } from '../../support/example-ports.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes } from '../../support/process.ts';
import { unusedPort } from '../../servers/unused-port.mjs';

const example = fileURLToPath(new URL('../../../examples/acme/', import.meta.url));
const readme = readFileSync(join(example, 'README.md'), 'utf8');
/** Blocks of commands: `sh` run to their end, `shell` stay. */
const steps = [...readme.matchAll(/^```(sh|shell)\n([^]*?)^```$/gm)].map(([, kind, text = '']) => ({
  kind,
  text,
}));

/** A copy beside the original, so that it finds the same packages, with ports that are free. */
async function prepare(t: Test) {
  const folder = t.testdir({});
  cpSync(example, folder, { recursive: true });
  const ports: Record<string, number> = {};
  for (const port of [3000, 3001, 8080, 9090]) ports[port] = await unusedPort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    ACME_DATABASE_URL: await freshDatabase(t),
    DATABASE_URL: await freshDatabase(t),
    ADMIN_TOKEN: operatorToken,
    NO_COLOR: '1',
    LOG_LEVEL: 'error',
  };
  return { folder, ports, env };
}

t.test('Acme’s customers go on as before, with their keys, and one of them gets sub-accounts', async (t) => {
  const { folder, ports, env } = await prepare(t);
  const here = (text: string): string =>
    withPorts(text, ports).replaceAll('../../dist/', join(example, '../../dist/'));
  writeFileSync(join(folder, 'gateway.yaml'), here(readFileSync(join(example, 'gateway.yaml'), 'utf8')));
  const stay = (text: string): void => {
    const child = spawn(
      'sh',
      [
        '-c',
        here(text)
          .trim()
          .replace(/(?=node )/, 'exec '),
      ],
      {
        cwd: folder,
        env: { PORT: here('3000'), ...env },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    t.teardown(() => child.kill('SIGKILL'));
  };
  const run = async (command: string): Promise<string> => {
    const shell = promisify(execFile)('sh', ['-ec', here(command)], { cwd: folder, env });
    return (await shell).stdout;
  };
  const answers = async (port: string): Promise<void> =>
    eventually(async () => (await fetch(here(`http://127.0.0.1:${port}/`)).catch(() => null)) !== null);
  const results: string[] = [];
  const waits = ['3000', '3001', undefined];
  for (const { kind, text } of steps) {
    if (kind === 'sh') {
      for (const command of text.trim().split('\n')) results.push(await run(command));
      continue;
    }
    stay(text);
    const port = waits.shift();
    if (port === undefined) await becomes(here('http://127.0.0.1:9090'), 200);
    else await answers(port);
  }
  const [schema, before, nobody, file, plan, imported, after, refused, made, lyon, branch, parent, ...more] =
    results;
  t.same([schema, file, more], ['', '', []]);
  t.same(JSON.parse(before ?? ''), [{ id: 1, destination: 'London' }]);
  t.same(JSON.parse(nobody ?? ''), { error: 'Unknown API key.' });
  for (const text of [plan, imported]) t.match(text, /accounts +2 +0 +0 +0\nkeys +2 +0 +0 +0/);
  t.equal(after, before, 'to the byte');
  t.match(JSON.parse(refused ?? ''), { status: 401, code: 'invalid_api_key' });
  t.match(JSON.parse(made ?? ''), { external_id: 'paris-office', status: 'active' });
  t.match(JSON.parse(lyon ?? ''), { destination: 'Lyon' });
  t.match(JSON.parse(branch ?? ''), [{ destination: 'Lyon' }]);
  t.same(JSON.parse(parent ?? ''), JSON.parse(before ?? ''), 'not its branch’s');

  const curie = await fetch(here('http://127.0.0.1:8080/shipments'), {
    headers: { 'x-api-key': 'acme_live_V7c5Tz9dFh1GsN4uQe8A' },
  });
  t.match(await curie.json(), [{ destination: 'Paris' }]);
  t.equal(
    curie.headers.get('x-service-resolved-tenant'),
    '7d1f0c3a-52b4-4e0e-9a59-0d3c6b1e8f02',
    'Acme’s id',
  );
  t.match(
    await run('INTERNAL_PORT=9090 node ../../dist/cli.js import customers.jsonl'),
    /accounts +0 +0 +2 +0/,
  );
  const unsaid = await fetch(here('http://127.0.0.1:8080/shipments'), {
    method: 'POST',
    headers: { 'x-api-key': 'acme_live_J2q8Yx4nRt6WbK0vLm3P', 'content-type': 'application/json' },
    body: '{"destination": "Rome"}',
  });
  t.equal(unsaid.status, 400, 'from now on its writes say for whom they are');
});
