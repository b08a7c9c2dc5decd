// class: app
/** Replicas of several versions on one database: what an older one cannot enforce is not promised. */
import t from 'tap';
import { Connection } from '../../../../src/adapters/postgres/connection/connection.ts';
import { connectByUrl, type Sql } from '../../../../src/adapters/postgres/connection/sql.ts';
import { ProblemError } from '../../../../src/domain/problem.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Scope } from '../../../support/servers.ts';
import { freshStore, rawSql } from '../../../support/store.ts';

/** Level of a made-up next version, which can enforce a change that this version cannot. */
const next = 2;

/** A database, and a call of the next version's change through a connection as the store has them. */
async function beside(t: Scope) {
  const { url, store, sql } = await freshStore(t);
  const connection = new Connection(connectByUrl(url, 10_000));
  t.teardown(() => connection.close());
  const change = () => connection.run((sql) => sql`select fleet_require(${next})`, 60_000);
  return { url, store, sql, change };
}

/** Registers or renews as a replica of this version, or of the next one. */
function register(
  sql: Pick<Sql, 'unsafe'>,
  id: string,
  version: string | null = '1.0.0',
  level = 1,
): Promise<unknown> {
  return sql.unsafe('select replica_renew($1, $2, 3000, 0, $3, null, false, null, $4)', [
    id,
    `nonce of ${id}`,
    version,
    level,
  ]);
}

async function waitsForLock(sql: Sql): Promise<void> {
  await eventually(async () => {
    const [row] = await sql`select from pg_locks where locktype = 'advisory' and not granted and database =
      (select oid from pg_database where datname = current_database())`;
    return row !== undefined;
  });
}

t.test(
  'what an older replica could not enforce is 503 and names its version, until it is gone',
  async (t) => {
    const { store, sql, change } = await beside(t);
    await register(sql, 'new', '1.1.0', next);
    await store.log.register({
      id: 'old',
      nonce: 'nonce of old',
      leaseMs: 3_000,
      streamsMs: 0,
      note: { version: '1.0.0', host: 'h', leaving: false },
    });
    await register(sql, 'nameless', null);

    const rejection: unknown = await change().catch((error: unknown) => error);
    t.match(rejection, ProblemError);
    const { problem } = rejection as ProblemError;
    t.match(problem, { code: 'unavailable', retryAfter: Number, detail: /\(1\.0\.0, unknown\)/ });
    t.notMatch(problem.detail, '1.1.0');

    await store.log.removeReplica('old', 'nonce of old');
    t.match(await change().catch((error: unknown) => error), { problem: { detail: /\(unknown\)/ } });
    await sql`delete from replica where id = 'nameless'`;
    await change();
    t.match(
      await store.log
        .register({ id: 'old', nonce: 'n', leaseMs: 3_000, streamsMs: 0 })
        .catch((error: unknown) => error),
      { cause: { code: 'TG002' } },
      'it gets no lease any more, so it serves nothing',
    );
    await register(sql, 'new', '1.1.0', next);
  },
);

t.test('an older replica cannot register between the check and the change, nor after it', async (t) => {
  const { url, store, sql, change } = await beside(t);
  const [other, looking] = [rawSql(t, url), rawSql(t, url)];

  let changing: Promise<unknown> = Promise.resolve();
  await other.begin(async (tx) => {
    await register(tx, 'old');
    changing = change().catch((error: unknown) => error);
    await waitsForLock(looking);
  });
  t.match(await changing, { problem: { code: 'unavailable' } }, 'it registers first: the change sees it');
  await sql`delete from replica`;
  await register(sql, 'new', '1.1.0', next);

  let registering: Promise<unknown> = Promise.resolve();
  await other.begin(async (tx) => {
    await tx`select fleet_require(${next})`;
    registering = register(sql, 'old').catch((error: unknown) => error);
    await waitsForLock(looking);
    await register(looking, 'new', '1.1.0', next);
    t.pass('a renewal does not wait for the change');
  });
  t.match(await registering, { code: 'TG002' }, 'the change was first: it cannot register');
  t.match(await register(sql, 'old').catch((error: unknown) => error), { code: 'TG002' });
  t.same(
    (await store.log.replicas()).rows.map(({ id }) => id),
    ['new'],
  );

  await sql`update fleet set level = 1`;
  await register(sql, 'old');
  t.pass('unless an operator gives up what it cannot enforce');
});
