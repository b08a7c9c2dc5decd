// class: real
/** This version beside a made-up next one over one database: there and back under load. */
import t from 'tap';
import { version } from '../../../src/wiring/version.ts';
import { backupTools, dumpSchema } from '../../support/backup.ts';
import { eventually } from '../../support/eventually.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { dist } from '../../support/process.ts';
import { freshRedis, redisClient } from '../../support/redis.ts';
import { migrated, rawSql } from '../../support/store.ts';
import { Fleet, type Member } from './support/fleet.ts';
import { differences, makeNextVersion, migrateWith } from './support/next-version.ts';

const next = makeNextVersion(t);

t.test('an upgrade and the way back: no request fails, no decision is stale', async (t) => {
  const url = await freshDatabase(t);
  const sql = rawSql(t, url);
  const redisUrl = await freshRedis(t);
  const redis = redisClient(t, redisUrl);
  const fleet = new Fleet(t, { DATABASE_URL: url, REDIS_URL: redisUrl });
  /** The functions are the next version's, by their number and by their text. */
  async function hasNextFunctions(when: string): Promise<void> {
    const [row] = await sql`
      select functions, prosrc like '%fleet_check(2)%' as checks
      from schema_base cross join pg_proc where proname = 'plan_put'`;
    t.same(row, { functions: next.functions, checks: true }, when);
  }
  const putPlan = ({ operator }: Member) => operator('PUT', '/plans/gold', { body: { max_sub_accounts: 1 } });

  const olds = [await fleet.start(dist), await fleet.start(dist)] as const;
  t.equal((await putPlan(olds[0])).status, 201);
  await fleet.load(olds[0]);

  const news = [await fleet.start(next.dist), await fleet.start(next.dist)] as const;
  await hasNextFunctions('after the upgrade');
  await fleet.goesOn();
  for (const member of [olds[0], news[0]]) {
    const { status, body } = await putPlan(member);
    t.match({ status, code: body['code'] }, { status: 503, code: 'unavailable' });
    t.ok(String(body['detail']).includes(`(${version()}`), `names this version: ${String(body['detail'])}`);
  }
  for (const member of olds) t.equal(await fleet.end(member, 'SIGTERM'), 0);
  await eventually(async () => (await putPlan(news[0])).status === 200);
  await fleet.goesOn();
  const facts = String(await redis.mget(await redis.keys('*:[ka]:*')));
  t.match(facts, /"v":1,[^{]*{"keyId"[^}]*"note":null/, 'facts about keys that this version can read');
  t.match(facts, /"v":2,[^{]*"account":/, 'facts about accounts that it cannot');

  await fleet.end(await fleet.start(dist), 'SIGKILL');
  for (let i = 0; i < 2; i++) await fleet.start(dist);
  await hasNextFunctions('after this version was killed and started again');
  await fleet.goesOn();
  for (const member of news) t.equal(await fleet.end(member, 'SIGTERM'), 0);
  await fleet.goesOn();
  await hasNextFunctions('after the way back');
  await fleet.stop();
  t.same(fleet.failures.slice(0, 20), [], `${fleet.failures.length} of ${fleet.sent} requests`);
  t.same(fleet.stale.slice(0, 20), [], `${fleet.stale.length} of ${fleet.decisions} decisions after changes`);
  t.ok(fleet.decisions > 0);
});

const noTools = 'NO SCHEMAS WERE COMPARED: pg_dump is not installed (postgresql-client)';
if (backupTools === null) process.stderr.write(`${noTools}\n`);

t.test(
  'a migrated schema differs from one of this version by what the next one says, and not from a new one',
  { skip: backupTools === null ? noTools : false },
  async (t) => {
    const url = await freshDatabase(t, migrated);
    const before = await dumpSchema(url);
    migrateWith(next.dist, url);
    const after = await dumpSchema(url);
    t.same(minus(before, after), differences.removed);
    t.same([...minus(after, before)].sort(), differences.added);
    migrateWith(dist, url);
    t.same(await dumpSchema(url), after, 'this version leaves it alone');

    const fresh = await freshDatabase(t);
    migrateWith(next.dist, fresh);
    t.same(await dumpSchema(fresh), after, 'as the next version makes it');
  },
);

/** Lines that `others` lacks, each as often as it is missing. */
function minus(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return lines.filter((line) => {
    const at = left.indexOf(line);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
