// class: pure
import t from 'tap';
import { TailCollector } from '../../../src/ops/live/tail-collector.ts';
import type { RequestParties, RequestRecord } from '../../../src/ports/request-record.ts';
import type { CollectedLines, TailFilter } from '../../../src/ports/tails.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import { requestRecord } from '../../support/request-record.ts';

const [parent, child, other, key] = ['parent', 'child', 'other', 'key'];
const record = requestRecord({
  ...{ keyId: key, caller: child, parent, resolvedTenant: child, durationMs: 2.345 },
  reason: 'self',
  head: { rawHeaders: ['Authorization', 'Bearer secret'], socket: {} },
});

/** A collector over a store that keeps what it is given. */
function collecting() {
  const time = new ManualTime();
  const added: CollectedLines[] = [];
  const state = { away: false, room: Infinity, isOpen: true, active: [] as RequestParties[] };
  const collector = new TailCollector({
    store: {
      add: async (collected) => {
        if (state.away) throw new Error('away');
        added.push(collected);
        return state.isOpen ? Math.min(state.room, collected.lines.length) : null;
      },
    },
    replicaId: () => 'replica',
    clock: time.clock,
    timers: time.timers,
  });
  collector.exchanges = {
    countOpen: (matches) => ({ requests: state.active.filter(matches).length, streams: 0 }),
  };
  const finish = (requests: number, more: Partial<RequestRecord> = {}): void => {
    for (let i = 0; i < requests; i++) if (collector.open !== null) collector.note({ ...record, ...more });
  };
  const lines = (): Readonly<Record<string, unknown>>[] =>
    added.flatMap((each) => each.lines.map((line) => JSON.parse(line) as Record<string, unknown>));
  return { time, added, state, collector, finish, lines };
}

const tail = (filter: TailFilter = {}, id = 'tail') => ({ id, filter });

t.test('nothing is collected and nothing is stored without a tail', async (t) => {
  const { time, added, collector, finish } = collecting();
  collector.learn([]);
  t.equal(collector.open, null);
  finish(100);
  await time.advance(60_000);
  t.same(added, []);
});

t.test('a line has what the log has of a request, and neither headers nor a query', async (t) => {
  const { time, collector, finish, lines } = collecting();
  collector.learn([tail()]);
  finish(1);
  await time.advance(500);
  const [line] = lines();
  t.ok(Math.abs(Date.parse(String(line?.['at'])) - time.clock.wallMs()) < 10_000);
  t.same(
    { ...line, at: null },
    {
      at: null,
      replica_id: 'replica',
      request_id: 'r',
      method: 'GET',
      path: '/orders',
      route: '/',
      status: 200,
      code: null,
      ms: 2.3,
      account_id: child,
      parent_id: parent,
      resolved_tenant: child,
      api_key_id: key,
    },
  );
});

t.test(
  'a filter lets through the caller, its parent, the tenant, the key and the code, and no others',
  async (t) => {
    const cases: readonly (readonly [TailFilter, Partial<RequestRecord>, boolean])[] = [
      [{ accountId: child }, {}, true],
      [{ accountId: parent }, {}, true],
      [{ accountId: other }, {}, false],
      [{ accountId: other }, { resolvedTenant: other }, true],
      [{ keyId: key }, {}, true],
      [{ keyId: other }, {}, false],
      [{ code: 'rate_limited' }, {}, false],
      [{ code: 'rate_limited' }, { code: 'rate_limited' }, true],
      [{ code: 'rate_limited', keyId: other }, { code: 'rate_limited' }, false],
    ];
    for (const [filter, more, shown] of cases) {
      const { time, collector, finish, lines } = collecting();
      collector.learn([tail(filter)]);
      finish(1, more);
      await time.advance(500);
      t.equal(lines().length, shown ? 1 : 0, JSON.stringify([filter, more]));
    }
  },
);

t.test('at most 50 requests a second are collected for each tail, and the others are counted', async (t) => {
  const { time, added, collector, finish, lines } = collecting();
  collector.learn([tail({}, 'one'), tail({ accountId: child }, 'two')]);
  finish(80);
  await time.advance(500);
  t.equal(lines().length, 100);
  t.same(
    added.filter(({ lines: each }) => each.length > 0).map(({ dropped }) => dropped),
    [30, 30],
  );
  finish(10);
  await time.advance(500);
  t.equal(lines().length, 100, 'still the same second');
  finish(10);
  await time.advance(500);
  t.equal(lines().length, 120);
});

t.test('a store that is away costs no memory, and what it did not take is counted', async (t) => {
  const { time, added, state, collector, finish } = collecting();
  state.away = true;
  collector.begin(tail());
  for (let second = 0; second < 10; second++) {
    finish(50);
    await time.advance(1_000);
  }
  state.away = false;
  state.room = 4;
  finish(10);
  await time.advance(2_000);
  const [first, ...more] = added;
  t.match(first, { dropped: 500, lines: { length: 10 } });
  t.same(more, [], 'the store itself counts those that it did not take');
  finish(1);
  await time.advance(500);
  t.match(added.at(-1), { dropped: 506, lines: { length: 1 } });
});

t.test('the open exchanges of the account and key are told when their number changes', async (t) => {
  const { time, added, state, collector } = collecting();
  const told = () => added.splice(0).map(({ tail, open }) => [tail, open.requests]);
  state.active = [record, { ...record, keyId: other }, { ...record, caller: other, parent: null }];
  collector.learn([
    tail({ accountId: parent }, 'account'),
    tail({ accountId: parent, keyId: key, code: 'internal' }, 'key'),
    tail({}, 'all'),
  ]);
  await time.advance(500);
  t.same(told(), [
    ['account', 2],
    ['key', 1],
    ['all', 3],
  ]);
  await time.advance(10_000);
  t.same(told(), [], 'nothing is told again');
  collector.learn([tail({ accountId: parent }, 'account')]);
  state.active.length = 0;
  state.away = true;
  await time.advance(1_000);
  state.away = false;
  await time.advance(500);
  t.same(told(), [['account', 0]], 'what a store that was away did not get is told later');
});

t.test('a tail that has ended is collected for no longer', async (t) => {
  const { time, added, state, collector, finish } = collecting();
  collector.learn([tail()]);
  collector.learn([]);
  t.equal(collector.open, null, 'the report no longer names it');
  collector.learn([tail()]);
  state.isOpen = false;
  finish(1);
  await time.advance(500);
  t.equal(collector.open, null, 'the store knows it no longer');
  state.isOpen = true;
  collector.learn([tail()]);
  await time.advance(20_000);
  t.equal(collector.open, null, 'no report has come for as long as a tail lives');
  const before = added.length;
  await time.advance(20_000);
  t.equal(added.length, before);
});

t.test('a tail begins while reports fail', async (t) => {
  const { time, collector, finish, lines } = collecting();
  await time.advance(60_000);
  collector.begin(tail());
  finish(1);
  await time.advance(60_000);
  t.equal(lines().length, 1);
  collector.forget('tail');
  await time.advance(500);
  t.equal(collector.open, null);
});

t.test('a tail that began here stays until its client leaves, whatever an earlier report says', async (t) => {
  const { time, collector, finish, lines } = collecting();
  collector.begin(tail({}, 'own'));
  collector.learn([tail({}, 'another')]);
  finish(1);
  await time.advance(500);
  t.equal(lines().length, 2);
  collector.learn([]);
  t.equal(collector.open?.length, 1);
  collector.forget('own');
  t.equal(collector.open, null);
});
