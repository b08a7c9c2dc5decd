// class: pure
import t from 'tap';
import { createRegistry } from '../../src/ops/metrics.ts';
import { watchOldSnapshots } from '../../src/ops/old-snapshots.ts';
import type { SnapshotHolder, SnapshotReading } from '../../src/ports/old-snapshots.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import type { Scope } from '../support/servers.ts';

const dump: SnapshotHolder = {
  kind: 'session',
  name: '17',
  user: 'backup',
  application: 'pg_dump',
  ageMs: null,
  transaction: 1_000,
};
const minuteMs = 60_000;

/** A replica that looks every 30 s at a database with ten transactions a second. */
function watch(t: Scope) {
  const time = new ManualTime();
  const registry = createRegistry();
  const warnings: object[] = [];
  const state: { looked: boolean; oldest: SnapshotHolder | null; failing: boolean; replica: string | null } =
    {
      looked: true,
      oldest: null,
      failing: false,
      replica: 'r',
    };
  const began = time.now;
  const source = {
    read: async (): Promise<SnapshotReading> => {
      if (state.failing) throw new Error('away');
      const { looked, oldest } = state;
      return { nextTransaction: 1_000 + (time.now - began) / 100, looked, oldest: looked ? oldest : null };
    },
  };
  t.teardown(
    watchOldSnapshots({
      source,
      replicaId: () => state.replica,
      registry,
      clock: time.clock,
      timers: time.timers,
      logger: { warn: (fields: object) => void warnings.push(fields) },
    }),
  );
  const shown = async (): Promise<number> => {
    const [, value] = /^tenancy_gateway_oldest_snapshot_seconds (\S+)$/m.exec(await registry.metrics()) ?? [];
    return Number(value);
  };
  return { time, state, warnings, shown };
}

t.test('the age of a snapshot is how long ago later transactions were first seen', async (t) => {
  const { time, state, shown } = watch(t);
  await time.advance(10 * minuteMs);
  t.equal(await shown(), 0);
  // Begun just now: one transaction after those that were seen.
  state.oldest = { ...dump, transaction: 1_000 + 10 * 600 + 1 };
  await time.advance(5 * minuteMs);
  t.equal(await shown(), 4.5 * 60, 'but for the pause between two looks');
  state.oldest = { ...state.oldest, transaction: 1_000 + 14 * 600 };
  await time.advance(minuteMs);
  t.equal(await shown(), 1.5 * 60, 'the next one that goes back furthest has its own age');
  state.oldest = null;
  await time.advance(minuteMs);
  t.equal(await shown(), 0);
});

t.test('where the database tells when a transaction began, that counts', async (t) => {
  const { time, state, shown } = watch(t);
  state.oldest = { ...dump, ageMs: 7_200_000 };
  await time.advance(minuteMs);
  t.equal(await shown(), 7_200);
});

t.test('the log names an old one once, and the next one again', async (t) => {
  const { time, state, warnings } = watch(t);
  state.oldest = dump;
  await time.advance(29 * minuteMs);
  t.same(warnings, []);
  await time.advance(10 * minuteMs);
  const told = { kind: 'session', name: '17', user: 'backup', application: 'pg_dump' };
  t.match(warnings, [{ ...told, age_s: 1_800 }]);
  state.oldest = { ...dump, kind: 'replication slot', name: 'gone', user: null, application: null };
  await time.advance(minuteMs);
  t.equal(warnings.length, 2);
  t.match(warnings[1], { kind: 'replication slot', name: 'gone' });
});

t.test('a replica that takes over knows how old a snapshot is that it never looked at', async (t) => {
  const { time, state, shown } = watch(t);
  state.looked = false;
  state.oldest = dump;
  await time.advance(60 * minuteMs);
  t.equal(await shown(), 0, 'another one shows it');
  state.looked = true;
  await time.advance(minuteMs);
  t.equal(await shown(), 3_630, 'since its second look: the first is as old as the snapshot');
});

t.test('a look that fails changes nothing, and there is another one', async (t) => {
  const { time, state, shown } = watch(t);
  state.replica = null;
  await time.advance(minuteMs);
  state.replica = 'r';
  state.oldest = { ...dump, ageMs: 600_000 };
  await time.advance(minuteMs);
  t.equal(await shown(), 600);
  state.failing = true;
  await time.advance(minuteMs);
  t.equal(await shown(), 600);
  state.failing = false;
  state.oldest = null;
  await time.advance(minuteMs);
  t.equal(await shown(), 0);
});
