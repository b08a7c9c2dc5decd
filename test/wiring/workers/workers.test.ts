// class: pure
/** Which workers run and which take connections. */
import t from 'tap';
import type { Unreadiness } from '../../../src/ops/health.ts';
import { startedFakes, startFakes } from '../../support/fake-workers.ts';

const lapsed: Unreadiness = { reason: 'lease_lapsed', detail: 'gone' };

t.test('the others begin when the first one listens; where it cannot, its exit code ends all', async (t) => {
  const { forked, at } = startFakes(3);
  t.equal(forked.length, 1);
  at(0).begin();
  t.match(at(0).heard, [
    { kind: 'begin', slot: 1 },
    { kind: 'group', take: true, unready: [{ reason: 'starting' }] },
  ]);
  at(0).state(lapsed);
  t.equal(forked.length, 3);

  const failing = startFakes(3);
  failing.at(0).begin().exit(1);
  t.same(failing.ended, [1]);
  await failing.time.advance(60_000);
  t.equal(failing.forked.length, 1);
});

t.test(
  'an unready worker takes no connections while another one is ready; all take where none is',
  async (t) => {
    const { at } = startFakes();
    at(0).begin().state(lapsed);
    at(1).begin();
    t.match(at(0).group, { take: true, unready: [lapsed] });
    t.match(at(1).group, { take: true, unready: [lapsed] });
    at(0).state();
    t.match(at(0).group, { take: true, unready: [] });
    t.match(at(1).group, { take: false, unready: [] });
    at(1).state();
    t.match(at(1).group, { take: true, unready: [] });
    at(0).state(lapsed);
    t.match(at(0).group, { take: false, unready: [] });
    at(1).state(lapsed);
    t.match(at(0).group, { take: true, unready: [lapsed] });
    t.match(at(1).group, { take: true, unready: [lapsed] });
  },
);

t.test('one that stays unready while others are ready is drained and replaced', async (t) => {
  const { at, time, forked } = startedFakes();
  at(0).state(lapsed);
  for (let second = 0; second < 12; second++) {
    at(0).state(lapsed);
    at(1).state();
    await time.advance(1_000);
  }
  t.ok(at(0).heard.some(({ kind }) => kind === 'drain'));
  t.notOk(at(1).heard.some(({ kind }) => kind === 'drain'));
  at(0).exit(0);
  await time.advance(0);
  t.equal(forked.length, 3);
});

t.test('a worker that has ended is heard no more, though a message of it comes late', (t) => {
  const { at, passedOn } = startedFakes();
  at(0).say({ kind: 'counted', id: 1, metrics: [] });
  t.same(passedOn, ['counted']);
  at(0).exit(0);
  at(0).say({ kind: 'counted', id: 2, metrics: [] });
  at(0).state();
  t.same(passedOn, ['counted']);
  t.end();
});

t.test('no worker is replaced for what keeps all of them from deciding', async (t) => {
  const { at, time } = startedFakes();
  for (let second = 0; second < 60; second++) {
    at(0).state(lapsed);
    at(1).state(lapsed);
    await time.advance(1_000);
  }
  t.notOk([at(0), at(1)].some(({ heard }) => heard.some(({ kind }) => kind === 'drain')));
});

t.test('a worker that says nothing for twice the time of its lease is killed', async (t) => {
  for (const [leaseMs, seconds] of [
    [3_000, 6],
    [500, 4],
    [10_000, 20],
  ] as const) {
    const { at, time, config } = startedFakes();
    config.current = { ...config.current, coherence: { ...config.current.coherence, leaseMs } };
    at(0).state();
    for (let second = 0; second <= seconds; second++) {
      t.same(at(0).signals, [], `${second} s of silence`);
      at(1).state();
      await time.advance(1_000);
    }
    t.same(at(0).signals, ['SIGKILL']);
    t.same(at(1).signals, []);
  }
});

t.test('one that starts is given half a minute', async (t) => {
  const { at, time } = startFakes();
  at(0).begin().state();
  at(1).begin();
  for (let second = 0; second < 31; second++) {
    t.same(at(1).signals, []);
    at(0).state();
    await time.advance(1_000);
  }
  t.same(at(1).signals, ['SIGKILL']);
});

t.test('a worker that dies again and again is started ever more slowly, up to half a minute', async (t) => {
  const { at, time, forked } = startedFakes();
  const pauses: number[] = [];
  at(0).exit(null, 'SIGKILL');
  for (let i = 2; i < 12; i++) {
    let waited = 0;
    await time.advance(0);
    while (forked.length === i) {
      at(1).state();
      waited += 250;
      await time.advance(250);
    }
    pauses.push(waited);
    at(i).begin().exit(3);
  }
  t.same(pauses, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

t.test('a stop drains all, also one that begins just then, and starts no other', async (t) => {
  const { workers, at, time, forked } = startedFakes();
  at(0).exit(1);
  await time.advance(0);
  t.equal(forked.length, 3);
  workers.stop();
  at(2).begin();
  for (const worker of [at(1), at(2)]) t.ok(worker.heard.some(({ kind }) => kind === 'drain'));
  t.match(at(1).group, { take: true, unready: [{ reason: 'draining' }] });
  at(1).exit(0);
  at(2).exit(0);
  t.ok(workers.empty);
  await time.advance(120_000);
  t.equal(forked.length, 3);
});
