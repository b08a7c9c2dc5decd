// class: night
/** Streams of a revoked key that are open on a replica which cannot hear of it: no byte passes after the 2xx. */
import t, { type Test } from 'tap';
import { leaseWaitMs } from '../../../src/coherence/timing.ts';
import { Random } from '../../support/coherence/random.ts';
import { eventually } from '../../support/eventually.ts';
import { startPostgres } from '../../support/postgres.ts';
import { startRedis } from '../../support/redis.ts';
import { rawSql } from '../../support/store.ts';
import { withTriggersOff } from '../../support/triggers-off.ts';
import { Replica } from './support/replica.ts';
import { arrivals, openStreams, type Arrival, type Passed } from './support/streams.ts';
import { Tenants } from './support/tenants.ts';
import { startUpstream } from './support/upstream.ts';

const [leaseMs, streamsS] = [1_000, 1];
const reachMs = leaseMs + 1_000 * streamsS;

t.test('a replica that is cut off from PostgreSQL passes nothing after the 2xx', async (t) => {
  const { silent, open, revoke } = await start(t);
  const streams = await open();
  silent.toPostgres.stall();
  await revoke(streams);
  await nothingMore(t, streams, reachMs);
});

t.test('a replica that was stopped passes nothing when it wakes', async (t) => {
  const { silent, open, revoke } = await start(t);
  const streams = await open();
  silent.pause();
  await sleep(2 * leaseMs + 1_000 * streamsS);
  await revoke(streams);
  silent.resume();
  await nothingMore(t, streams, reachMs);
});

t.test('a revoke that begins after the row of a silent replica is gone ends its streams, too', async (t) => {
  const { silent, sql, open, revoke } = await start(t);
  const streams = await open();
  silent.toPostgres.stall();
  await eventually(async () => (await sql`select from replica`).length === 1, { limitMs: 20_000 });
  const tookMs = await revoke(streams);
  t.ok(tookMs < leaseWaitMs(reachMs), `nobody was waited for (${Math.round(tookMs)} ms)`);
  await nothingMore(t, streams, reachMs);
});

t.test('with triggers off a revoke gets no 2xx, and streams pass bytes on', async (t) => {
  const { postgresUrl, open, ask } = await start(t);
  const streams = await open();
  await withTriggersOff(postgresUrl, 'a role for replication', async () => {
    await sleep(500);
    const response = await ask(streams);
    t.match(response, { status: 503, body: { code: 'unavailable' } });
    const before = { ...streams.counts };
    await eventually(() => arrivals.every((at) => streams.counts[at] > before[at]));
  });
});

interface Streams {
  readonly id: string;
  readonly counts: Record<Arrival, number>;
}

async function start(t: Test) {
  const passed: Passed = new Map();
  const [postgres, redis, upstreamUrl] = await Promise.all([
    startPostgres(t),
    startRedis(t),
    startUpstream(t, passed),
  ]);
  const surroundings = { postgresUrl: postgres.url, redisUrl: redis.url, upstreamUrl, leaseMs, streamsS };
  const [writer, silent] = [
    await Replica.make(t, 'the writer', surroundings),
    await Replica.make(t, 'the silent one', surroundings),
  ];
  await Promise.all([writer.ready(), silent.ready()]);
  const sql = rawSql(t, postgres.url);
  const tenants = new Tenants([writer], new Random(1), () => false);
  const parent = await tenants.createParent();
  const sub = await tenants.createSubAccount(parent);

  /** Opens all kinds through the silent one, and resolves when each has passed bytes. */
  const open = async (): Promise<Streams> => {
    const { id, key } = await tenants.mint(parent, sub);
    const counts = Object.fromEntries(arrivals.map((at) => [at, 0])) as Streams['counts'];
    passed.set(id, (at) => void (counts[at] += 1));
    openStreams(Number(new URL(silent.client.origin).port), key, id, passed);
    await eventually(() => arrivals.every((at) => counts[at] > 1));
    return { id, counts };
  };
  const ask = ({ id }: Streams) =>
    writer.client.send('POST', `/v1/sub-accounts/${sub}/api-keys/${id}/revoke`, {
      key: parent.key,
      limitMs: 10_000,
    });
  /** Revokes the key, and returns after how many milliseconds the 2xx came. */
  const revoke = async (streams: Streams): Promise<number> => {
    const began = performance.now();
    t.match(await ask(streams), { status: 200 });
    return performance.now() - began;
  };
  return { postgresUrl: postgres.url, silent, sql, open, ask, revoke };
}

/** Call it when the 2xx has come. */
async function nothingMore(t: Test, { counts }: Streams, ms: number): Promise<void> {
  // What arrived before the response is read within two turns of the event loop.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
  const before = { ...counts };
  await sleep(ms);
  t.same(counts, before, 'no byte for a client or the service');
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
