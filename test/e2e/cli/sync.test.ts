// class: app
/** `tenancy-gateway sync`: a parent's sub-accounts as its own list says. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { commandLine, commandLineFrom } from '../../support/command-line.ts';
import { tempFolder } from '../../support/process.ts';
import { startReplicas } from '../../support/replicas.ts';

const { manageOrigin, origin, parent } = await startReplicas(t);
const folder = tempFolder(t);

function file(name: string, ...rows: readonly (string | object)[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'));
  return path;
}

t.test('a list is planned and applied, and what is not in it is only reported', async (t) => {
  const { key, call } = await parent();
  const make = async (body: object): Promise<string> => String((await call('POST', '', { body })).body['id']);
  await make({ name: 'Same', external_id: 'same', metadata: { a: '1', b: '2' } });
  const other = await make({ name: 'Other', external_id: 'other' });
  const off = await make({ name: 'Off', external_id: 'off' });
  await call('POST', `/${off}/deactivate`);
  await make({ name: 'Gone', external_id: 'gone' });
  await make({ name: 'Without a name of ours' });
  const path = file(
    'list.jsonl',
    { external_id: 'new/1', name: 'New', metadata: { tier: '1' } },
    { external_id: 'same', name: 'Same', metadata: { a: '1', none: null } },
    { external_id: 'other', name: 'Changed' },
    { external_id: 'off', name: 'Off' },
  );
  const env = { TENANCY_GATEWAY_API_KEY: key };
  const sync = async (...more: readonly string[]) => {
    const args = ['--json', 'sync', path, '--gateway', origin, ...more];
    const { code, stdout, stderr } = await commandLine(env, ...args);
    t.equal(code, 0, stderr);
    t.notMatch(stdout + stderr, key);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const counts = { created: 1, updated: 1, unchanged: 2, deactivated_in_file: 1, left_out: 0, unnamed: 1 };
  t.match(await sync('--plan'), { plan: true, ...counts, deactivated: 0, missing: ['gone'] });
  t.match(await sync('--dry-run', '--deactivate-missing'), { plan: true, ...counts, deactivated: 1 });
  t.equal(((await call('GET', '?external_id=new/1')).body['data'] as unknown[]).length, 0);

  t.match(await sync(), { plan: false, ...counts, deactivated: 0, missing: ['gone'] });
  t.match((await call('GET', '?external_id=new/1')).body['data'], [{ name: 'New', metadata: { tier: '1' } }]);
  t.match((await call('GET', `/${other}`)).body, { name: 'Changed' });
  t.match((await call('GET', `/${off}`)).body, { status: 'deactivated' });
  t.match((await call('GET', '?external_id=gone')).body['data'], [{ status: 'active' }]);

  t.match(await sync('--deactivate-missing'), { created: 0, updated: 0, unchanged: 4, deactivated: 1 });
  t.match((await call('GET', '?external_id=gone')).body['data'], [{ status: 'deactivated' }]);
  t.match((await call('GET', '?q=Without')).body['data'], [{ status: 'active' }], 'it has no external_id');
  t.match(await sync('--deactivate-missing'), { unchanged: 4, deactivated: 0, missing: [] });
});

t.test('CSV, the key from standard input, the address from the variables', async (t) => {
  const { key, call } = await parent();
  const path = file('list.csv', 'external_id,name,metadata.tier', 'a,"Ada, Ltd",1', 'b,Ben,');
  const env = { PORT: new URL(manageOrigin).port };
  const done = await commandLineFrom(`${key}\n`, env, 'sync', path, '--stdin');
  t.match(done, { code: 0, stdout: /CREATED +UPDATED[^]*2 +0 +0 +0 +0/ });
  t.match((await call('GET', '?external_id=a')).body['data'], [
    { name: 'Ada, Ltd', metadata: { tier: '1' } },
  ]);
});

t.test('faults, wrong keys and lists that would empty an account change nothing', async (t) => {
  const { key, call } = await parent();
  const sub = await parent().then(async (other) => (await other.create()).mint());
  await call('POST', '', { body: { name: 'Active', external_id: 'active' } });
  const run = (token: string | undefined, ...args: readonly string[]) =>
    commandLine(
      { ...(token !== undefined && { TENANCY_GATEWAY_API_KEY: token }) },
      ...['sync', '--gateway', origin, ...args],
    );
  const good = file('good.jsonl', { external_id: 'a', name: 'A' });
  const faulty = file(
    'faulty.jsonl',
    { external_id: '..', name: 'Dots' },
    { external_id: 'a', name: 'A', id: 'x' },
    { external_id: 'a', name: 'B' },
    { type: 'account', external_id: 'x', name: 'X' },
  );
  t.match(await run(key, faulty), {
    code: 1,
    stderr:
      /line 1: external_id has a segment of only dots[^]*line 2: id is not a field[^]*line 3: external_id is the same as in line 2/,
  });
  t.match(await run(key, file('other.jsonl', { type: 'account', external_id: 'x', name: 'X' })), {
    code: 1,
    stderr: /more than sub-accounts/,
  });
  t.match(await run(key, file('empty.jsonl', ''), '--deactivate-missing'), { code: 1, stderr: /no rows/ });
  t.match(await run(undefined, good), { code: 77, stderr: /There is no API key/ });
  t.match(await run('no_such_key_at_all', good), { code: 77 });
  t.match(await run(sub, good), { code: 1, stderr: /parent API key is required/ });
  t.match(await commandLine({ TENANCY_GATEWAY_API_KEY: key }, 'sync', good, '--gateway', 'x'), { code: 64 });
  t.match((await call('GET', '')).body['data'], [{ status: 'active', name: 'Active' }]);
});

t.test('what the gateway rejects by itself is left out, and reported', async (t) => {
  const { key } = await parent();
  const pairs = (from: number): object =>
    Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${from + i}`, 'v']));
  const env = { TENANCY_GATEWAY_API_KEY: key };
  const full = file('full.jsonl', { external_id: 'full', name: 'F', metadata: pairs(0) });
  t.match(await commandLine(env, 'sync', '--gateway', origin, full), { code: 0 });
  const path = file(
    'fuller.jsonl',
    { external_id: 'full', name: 'F', metadata: pairs(1) },
    { external_id: 'more', name: 'M' },
  );
  const done = await commandLine(env, 'sync', '--gateway', origin, path);
  t.match(done, { code: 1, stdout: /1 +0 +0 +0 +1[^]*line 1: /, stderr: /A row was left out/ });
});
