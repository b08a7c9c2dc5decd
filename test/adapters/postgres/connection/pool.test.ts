// class: app
import t from 'tap';
import { Limit, Pool, type Runner } from '../../../../src/adapters/postgres/connection/pool.ts';
import type { Sql } from '../../../../src/adapters/postgres/connection/sql.ts';
import { everythingThatFollows } from '../../../support/coherence/manual-time.ts';
import type { Scope } from '../../../support/servers.ts';
import { eventually } from '../../../support/eventually.ts';
import { problemCode } from '../../../support/store.ts';

/** Statements that end when the test says so, on connections that lead nowhere. */
function makePool(t: Scope, size: number) {
  const pool = new Pool(() => ({ end: async () => undefined }) as unknown as Sql, size);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const outcomes: Record<string, string> = {};
  const run = (db: Runner, name: string, tenant?: string): void => {
    const running = db.run(() => {
      began.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    }, tenant);
    void problemCode(running).then((code) => (outcomes[name] = code ?? 'ended'));
  };
  const end = (name: string): Promise<void> => {
    ends.get(name)?.();
    ends.delete(name);
    return everythingThatFollows();
  };
  // Deadlines of what still runs or waits would keep the process.
  t.teardown(async () => {
    for (let [name] = ends.keys(); name !== undefined; [name] = ends.keys()) await end(name);
  });
  return { pool, began, outcomes, run, end };
}

t.test("a tenant never has every connection: another one's revoke begins at once", async (t) => {
  const { pool, began, run } = makePool(t, 3);
  const db = pool.withDeadline(60_000);
  for (let i = 0; i < 300; i++) run(db, `loud ${i}`, 'loud');
  await everythingThatFollows();
  t.same(began, ['loud 0', 'loud 1']);
  run(db, 'revoke', 'quiet');
  await everythingThatFollows();
  t.same(began, ['loud 0', 'loud 1', 'revoke']);
});

t.test('where every connection is taken, the next is for a tenant that has none', async (t) => {
  const { pool, began, run, end } = makePool(t, 3);
  const db = pool.withDeadline(60_000);
  for (let i = 0; i < 300; i++) run(db, `loud ${i}`, 'loud');
  run(db, 'other', 'other');
  for (let i = 0; i < 3; i++) run(db, `quiet ${i}`, 'quiet');
  run(db, 'of the gateway');
  await end('loud 0');
  await end('other');
  await end('quiet 0');
  await end('loud 1');
  t.same(began.slice(3), ['quiet 0', 'of the gateway', 'loud 2', 'quiet 1']);
});

t.test('over one connection tenants take turns, and so does what they ask for', async (t) => {
  const { pool, began, run, end } = makePool(t, 1);
  const [reports, changes, lease] = ['reports', 'changes', 'lease'].map((kind) =>
    pool.withDeadline(60_000, kind),
  ) as [Runner, Runner, Runner];
  for (let i = 0; i < 300; i++) run(reports, `report ${i}`, 'loud');
  run(changes, 'revoke', 'quiet');
  run(changes, 'own revoke', 'loud');
  run(lease, 'lease');
  for (const name of ['report 0', 'revoke', 'own revoke', 'lease']) await end(name);
  t.same(began, ['report 0', 'revoke', 'own revoke', 'lease', 'report 1']);
});

t.test('what a kind may have at once leaves connections for other kinds', async (t) => {
  const { pool, began, run, end } = makePool(t, 3);
  const others = new Limit(2, 1);
  const facts = pool.withDeadline(60_000, 'facts', new Limit(2));
  const changes = pool.withDeadline(60_000, 'changes', others);
  const reports = pool.withDeadline(60_000, 'reports', others, new Limit(1));
  for (let i = 0; i < 9; i++) run(reports, `report ${i}`, 'loud');
  for (let i = 0; i < 9; i++) run(changes, `change ${i}`, 'loud');
  await everythingThatFollows();
  t.same(began, ['report 0'], "of one tenant's changes and reports, one");
  run(changes, 'revoke', 'quiet');
  run(changes, 'third', 'third');
  run(reports, 'other report', 'quiet');
  run(facts, 'look-up');
  await everythingThatFollows();
  t.same(began.slice(1), ['revoke', 'look-up'], 'a change of another, and a look-up, at once');
  await end('look-up');
  t.same(began.slice(3), [], 'the connection for look-ups stays for them');
  await end('revoke');
  t.same(began.slice(3), ['third']);
  await end('report 0');
  await end('change 0');
  t.same(began.slice(4), ['change 0', 'other report'], 'and then as they came');
});

t.test('a statement that ends lets everything run that waited for no more than that', async (t) => {
  const { pool, began, run, end } = makePool(t, 3);
  const both = new Limit(3, 1);
  const changes = pool.withDeadline(60_000, 'changes', both);
  const reports = pool.withDeadline(60_000, 'reports', both, new Limit(1));
  run(reports, 'report', 'a');
  run(changes, 'change', 'a');
  run(reports, 'other report', 'b');
  await end('report');
  t.same(began, ['report', 'change', 'other report']);
});

t.test('of one tenant a thousand statements wait at most, and others go on', async (t) => {
  const { pool, began, outcomes, run } = makePool(t, 2);
  const db = pool.withDeadline(60_000);
  for (let i = 0; i <= 1_002; i++) run(db, `loud ${i}`, 'loud');
  run(db, 'quiet', 'quiet');
  await everythingThatFollows();
  t.same(outcomes, { 'loud 1001': 'too_many_requests', 'loud 1002': 'too_many_requests' });
  t.same(began, ['loud 0', 'quiet']);
});

t.test(
  'who waits too long is in its own way where it was served meanwhile, else the store is away',
  async (t) => {
    const { pool, outcomes, run, end } = makePool(t, 2);
    const db = pool.withDeadline(200);
    for (let i = 0; i < 3; i++) run(db, `served ${i}`, 'served');
    run(db, 'silent 0', 'silent');
    run(db, 'silent 1', 'silent');
    await end('served 0');
    await eventually(() => Object.keys(outcomes).length >= 3);
    t.match(outcomes, { 'served 0': 'ended', 'served 2': 'too_many_requests', 'silent 1': 'unavailable' });
  },
);

t.test('a statement that fails gives its connection to the next one', async (t) => {
  const { pool } = makePool(t, 1);
  const db = pool.withDeadline(60_000);
  t.equal(await problemCode(db.run(() => Promise.reject(new Error('failed')), 'a')), 'unavailable');
  t.equal(await db.run(async () => 'ran', 'b'), 'ran');
});
