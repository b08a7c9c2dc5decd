// class: built
/** `docs/automation.md`: its commands, in a shell, twice. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import t from 'tap';
import { blocksOf, readPage } from '../../support/docs.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';

const commands = blocksOf(readPage('automation.md'), 'sh');
const operatorToken = 'a-token-of-the-operator-of-this-test';

t.test('the commands for automation give the same the second time, and leave no second event', async (t) => {
  const database = await freshDatabase(t);
  const { url, internalUrl } = await startProcess(t, {
    DATABASE_URL: database,
    UPSTREAM_URL: (await startUpstream(t)).url,
    ADMIN_TOKEN: operatorToken,
  });
  await becomes(internalUrl, 200);
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', ADMIN_TOKEN: operatorToken },
    ...{ INTERNAL_URL: internalUrl, GATEWAY_URL: url, API_KEY: randomBytes(32).toString('hex') },
  };
  const script = ['set -euo pipefail', ...commands].join('\n');
  const run = async (): Promise<string> =>
    (await promisify(execFile)('bash', ['-c', script], { env })).stdout;
  const sql = rawSql(t, database);
  const events = async (): Promise<number> =>
    Number((await sql`select count(*) as count from event`)[0]?.['count']);

  const first = await run();
  t.equal(first.match(/"outcome":"created"/g)?.length, 3, first);
  t.match(first, /"requests_per_second":100/);
  t.match(first, /"name":"Ben & Sons"/);
  const left = await events();
  const second = await run();
  t.equal(second.match(/"outcome":"(?:unchanged|existing)"/g)?.length, 3, second);
  t.equal(await events(), left, 'nothing changed');
  const ids = (text: string) => [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
  t.same(ids(second), ids(first), 'the same accounts and keys');
});
