// class: night
/** A live tail whose client stops reading. */
import t from 'tap';
import { operatorToken } from '../../support/apis.ts';
import { eventually } from '../../support/eventually.ts';
import { httpClient } from '../../support/http-client.ts';
import { watch } from '../../support/live-watch.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { parentOf } from '../../support/reload.ts';
import { migrated, rawSql } from '../../support/store.ts';
import { metric } from '../../support/workers.ts';

t.test('a client that stops reading loses its tail and its connection, and others see on', async (t) => {
  const databaseUrl = await freshDatabase(t, migrated);
  const { url, internalUrl } = await startProcess(t, {
    DATABASE_URL: databaseUrl,
    UPSTREAM_URL: (await startUpstream(t)).url,
    ADMIN_TOKEN: operatorToken,
    LOG_LEVEL: 'warn',
  });
  await becomes(internalUrl, 200);
  const { key } = await parentOf(t, url, internalUrl);
  const call = httpClient(t, url);
  const connections = (): Promise<number | undefined> =>
    metric(internalUrl, 'connections', 'listener="internal"');
  const reader = await watch(t, internalUrl);
  // The reader's and the one that asks for the metrics; others that were kept open have to be closed first.
  const before = 2;
  await eventually(async () => (await connections()) === before, { everyMs: 250 });
  t.pass('connections that were kept open are closed');
  const stalled = await watch(t, internalUrl);
  await eventually(async () => (await connections()) === before + 1, { everyMs: 250 });
  stalled.stopReading();
  t.pass('both tails are open');

  // Long lines fill the buffers between the two, which takes minutes on some machines; then the gateway waits for `body_idle_ms`.
  let isOver = false;
  const flood = (async () => {
    const path = `/${'x'.repeat(1_000)}`;
    for (let requests = 10; !isOver; requests += 10) {
      await Promise.all(Array.from({ length: 10 }, () => call('GET', path, { key })));
      if (requests % 1_000 === 0) t.pass(`${requests} requests`);
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  })();
  const sql = rawSql(t, databaseUrl);
  await eventually(async () => (await connections()) === before, { limitMs: 900_000, everyMs: 500 }).finally(
    () => {
      isOver = true;
    },
  );
  await flood;
  t.pass('the connection of the one that stopped was closed');
  await eventually(async () => (await sql`select from tail`).length === 1);
  // The flood has used up the lines of its last second.
  await eventually(
    async () => {
      await call('GET', '/after', { key });
      return reader.lines().some(({ path }) => path === '/after');
    },
    { everyMs: 250 },
  );
  t.equal(stalled.isWhole(), false);
});
