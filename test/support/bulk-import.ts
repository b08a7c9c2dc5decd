/** Many customers with a key each, imported by the command line into three gateways, killed half-way and begun again. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { operatorToken } from './apis.ts';
import { eventually } from './eventually.ts';
import { freshDatabase } from './postgres.ts';
import { becomes, cli, startCli, startProcess, tempFolder } from './process.ts';
import { freshRedis } from './redis.ts';
import { migrated, rawSql } from './store.ts';
import { startUpstream } from './upstreams.ts';

/** Where the first attempt is killed. */
type KilledDuring = 'accounts' | 'keys';

/** The key of a customer: every other one is known by its digest alone. */
const keyOf = (i: number): string => `acme_live_${createHash('md5').update(`customer ${i}`).digest('hex')}`;

async function writeFile(path: string, customers: number): Promise<void> {
  const out = createWriteStream(path);
  out.write('type,external_id,name,metadata.plan,account_external_id,api_key,sha256,scopes\n');
  for (let i = 0; i < customers; i++) {
    const sha256 = createHash('sha256').update(keyOf(i)).digest('hex');
    const key = i % 2 === 0 ? `${keyOf(i)},` : `,${sha256}`;
    // Keys before what they belong to: the order of a file does not matter.
    out.write(`api_key,,production,,cus_${i},${key},orders:read orders:write\n`);
    if (!out.write(`account,cus_${i},"Customer, ${i}",gold,,,,\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

/** @param killedDuring what the first attempt is doing when SIGKILL ends it, about half of it done */
export async function bulkImport(t: Test, customers: number, killedDuring: KilledDuring): Promise<void> {
  const upstream = await startUpstream(t);
  const url = await freshDatabase(t, migrated);
  const env = {
    DATABASE_URL: url,
    REDIS_URL: await freshRedis(t),
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: operatorToken,
    LOG_LEVEL: 'error',
  };
  const replicas = [await startProcess(t, env), await startProcess(t, env), await startProcess(t, env)];
  for (const { internalUrl } of replicas) await becomes(internalUrl, 200);
  const [first] = replicas as [(typeof replicas)[0]];
  const sql = rawSql(t, url);
  const count = async (): Promise<Record<string, number>> => {
    const [row] =
      await sql`select (select count(*)::int from account) as accounts, (select count(*)::int from api_key) as keys`;
    return row as unknown as Record<string, number>;
  };
  sayProgress(t, async () => Object.values(await count()).reduce((sum, rows) => sum + rows, 0));
  const tried = [0, 1, Math.floor(customers / 2), Math.floor(customers / 2) + 1, customers - 1];
  const statuses = async (): Promise<number[]> =>
    Promise.all(
      tried.flatMap((i) =>
        replicas.map(async (replica) => {
          const headers = { authorization: `Bearer ${keyOf(i)}` };
          const response = await fetch(`${replica.url}/orders`, { headers });
          await response.arrayBuffer();
          return response.status;
        }),
      ),
    );
  const file = join(tempFolder(t), 'customers.csv');
  await writeFile(file, customers);
  t.same(
    new Set(await statuses()),
    new Set([401]),
    'customers use their keys already: every replica has met them',
  );

  const planned = await cli(first.env, '--json', 'import', file, '--plan');
  t.match(JSON.parse(planned.stdout), { accounts: { created: customers }, api_keys: { created: customers } });
  t.same(await count(), { accounts: 0, keys: 0 }, 'a plan does nothing');

  const attempt = startCli(t, first.env, 'import', file);
  await eventually(async () => ((await count())[killedDuring] ?? 0) >= customers / 2 || !attempt.running, {
    everyMs: 5,
    limitMs: 900_000,
  });
  const said = (): string => attempt.stderr + replicas.map(({ program }) => program.stdout).join('');
  t.equal(
    await attempt.kill('SIGKILL'),
    null,
    attempt.running ? 'it was at work when it was killed' : said(),
  );
  const between = await count();
  t.ok((between[killedDuring] ?? 0) < customers, `killed with ${JSON.stringify(between)} of ${customers}`);

  const begunMs = performance.now();
  const resumed = await cli(first.env, '--json', 'import', file);
  const seconds = (performance.now() - begunMs) / 1000;
  t.same(new Set(await statuses()), new Set([200]), 'on every replica, as soon as the command has returned');
  t.equal(resumed.code, 0, resumed.stderr + first.program.stdout);
  const result = JSON.parse(resumed.stdout) as Record<string, { created: number; unchanged: number }>;
  for (const name of ['accounts', 'api_keys'])
    t.equal((result[name]?.created ?? 0) + (result[name]?.unchanged ?? 0), customers, `${name}, each once`);
  t.ok((result['accounts']?.unchanged ?? 0) > 0, 'what the first attempt did was found');
  t.same(await count(), { accounts: customers, keys: customers });
  const done = (result['accounts']?.created ?? 0) + (result['api_keys']?.created ?? 0);
  t.comment(`${done} of ${2 * customers} rows created by the second attempt, in ${seconds.toFixed(1)} s`);

  console.error(
    `# ${Math.round((2 * customers) / seconds)} rows/s (${done} created, the others found; ${seconds.toFixed(1)} s)`,
  );

  const again = await cli(first.env, '--json', 'import', file);
  t.match(JSON.parse(again.stdout), {
    accounts: { unchanged: customers },
    api_keys: { unchanged: customers },
  });
  t.notMatch(
    resumed.stdout + resumed.stderr + planned.stdout + planned.stderr,
    /acme_live/,
    'no key is printed',
  );
}

/** Says every ten seconds how many rows there are: the runner ends a file without a word. */
function sayProgress(t: Test, rows: () => Promise<number>): void {
  let said = 0;
  const look = async (): Promise<void> => {
    const now = await rows();
    t.pass(now > said ? `${now} rows` : 'no new rows');
    said = now;
  };
  const timer = setInterval(() => void look().catch(() => undefined), 10_000);
  t.teardown(() => clearInterval(timer));
}
