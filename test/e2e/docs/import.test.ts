// class: built
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { rowKinds, rowTypes } from '../../../src/cli/import/rows.ts';
import { operatorToken } from '../../support/apis.ts';
import { blocksOf, installed, readPage } from '../../support/docs.ts';
import { startReplicas } from '../../support/replicas.ts';

const page = readPage('import.md');
const block = (language: string, n = 0): string => blocksOf(page, language)[n] ?? '';

t.test('the file and the commands of the page work, word for word', async (t) => {
  const { internalOrigin, operator, call, origin, parent } = await startReplicas(t);
  const { folder: bin, PATH } = installed(t);
  writeFileSync(join(bin, 'customers.csv'), block('csv'));
  writeFileSync(join(bin, 'more.jsonl'), block('json'));
  const env = {
    PATH,
    INTERNAL_PORT: new URL(internalOrigin).port,
    ADMIN_TOKEN: operatorToken,
    NO_COLOR: '1',
  };
  const sh = async (command: string): Promise<string> =>
    (await promisify(execFile)('sh', ['-ec', command], { env, cwd: bin })).stdout;
  const [plan = '', apply = '', ...more] = block('sh').trim().split('\n');
  t.same(more, []);
  t.match(await sh(plan), /accounts +1 +0[^]*sub-accounts +1 +0[^]*keys +2 +0[^]*nothing was changed/);
  t.match(await sh(apply), /accounts +1 +0[^]*sub-accounts +1 +0[^]*keys +2 +0/);
  t.match(await sh('tenancy-gateway import more.jsonl'), /accounts +1 +0[^]*keys +1 +0/);
  const [acme] = (await operator('GET', '/accounts?external_id=cus_42')).body['data'] as unknown[];
  t.match(acme, { name: 'Acme Freight', metadata: { plan: 'gold' }, active_sub_accounts: 1 });
  const { key, call: own } = await parent();
  writeFileSync(join(bin, 'sub-accounts.csv'), block('csv', 1));
  Object.assign(env, { TENANCY_GATEWAY_API_KEY: key, GATEWAY_URL: origin });
  t.match(await sh(block('sh', 1)), /TO CREATE[^]*2 +0 +0[^]*CREATED[^]*2 +0 +0/);
  t.match((await own('GET', '?external_id=ben')).body['data'], [
    { name: 'Ben & Sons', metadata: { tier: '2' } },
  ]);
  for (const theirs of ['acme_live_7f3Kc0qWmZ1xR9vBtYp2Ld5N', 'acme_live_2Ld5N7f3Kc0qWmZ1xR9vBtYp'])
    t.equal((await call('GET', '/orders', { key: theirs })).status, 200);
});

t.test('every column and every call is on the page', async (t) => {
  for (const column of new Set(rowTypes.flatMap((type) => rowKinds[type].columns)))
    t.ok(page.includes(`\`${column}`), column);
  const { operator } = await startReplicas(t);
  const calls = [...page.matchAll(/`POST \/admin\/v1([^`]*)`/g)];
  t.equal(calls.length, 3);
  for (const [call, path = ''] of calls) {
    const { headers } = await operator('PUT', path.replaceAll(/\{\w+\}/g, randomUUID()));
    t.equal(headers['allow'], 'POST', call);
  }
});
