// class: pure
import t from 'tap';
import { liveTails } from '../../../src/ops/live/tails.ts';
import type { LiveTail } from '../../../src/ports/live-tails.ts';
import type { TailReading } from '../../../src/ports/tails.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';

const nothing = { requests: 0, streams: 0 };

/** A replica with the id `own`, over a store whose readings a test sets. */
function watching() {
  const time = new ManualTime();
  const collected = new Set<string>();
  const state = {
    reading: { lines: [], replicas: [] } as TailReading | null,
    taken: [] as number[],
    leaving: false,
    away: false,
    closed: 0,
    isFull: false,
    own: { requests: 0, streams: 0 },
  };
  const tails = liveTails({
    store: {
      open: async () => !state.isFull,
      add: async () => null,
      read: async (_id, taken) => {
        if (state.away) throw new Error('away');
        state.taken.push(taken);
        return state.reading;
      },
      close: async () => {
        state.closed += 1;
        if (state.away) throw new Error('away');
      },
    },
    collector: {
      begin: ({ id }) => void collected.add(id),
      forget: (id) => void collected.delete(id),
      countOpen: () => state.own,
    },
    replicaId: () => 'own',
    isLeaving: () => state.leaving,
    randomId: () => 'tail',
    clock: time.clock,
    timers: time.timers,
  });
  return { time, collected, state, tails };
}

/** Reads a tail half a second later. */
async function later(time: ManualTime, tail: LiveTail | null): ReturnType<LiveTail['next']> {
  const next = tail?.next();
  await time.advance(500);
  return (await next) ?? null;
}

t.test('lines come in the order in which their requests ended, and each makes room once', async (t) => {
  const { time, state, tails } = watching();
  const tail = await tails.open({});
  state.reading = { lines: ['{"at":"2026-01-01T00:00:02Z"}', '{"at":"2026-01-01T00:00:01Z"}'], replicas: [] };
  t.same((await later(time, tail))?.lines, [
    '{"at":"2026-01-01T00:00:01Z"}',
    '{"at":"2026-01-01T00:00:02Z"}',
  ]);
  state.reading = { lines: [], replicas: [] };
  await later(time, tail);
  await later(time, tail);
  t.same(state.taken, [0, 2, 0]);
});

t.test(
  'the state names the replicas that collect, and counts what each has left out, also of ended ones',
  async (t) => {
    const { time, state, tails } = watching();
    const tail = await tails.open({});
    t.match(tail?.state, { replicas: ['own'], sampled: false, dropped: 0 });
    const read = async (replicas: TailReading['replicas']) => {
      state.reading = { lines: [], replicas };
      return (await later(time, tail))?.state;
    };
    t.match(
      await read([
        { id: 'own', dropped: 2, open: nothing },
        { id: 'other', dropped: 3, open: nothing },
      ]),
      { replicas: ['other', 'own'], sampled: true, dropped: 5 },
    );
    t.match(await read([{ id: 'own', dropped: 2, open: nothing }]), {
      replicas: ['own'],
      sampled: true,
      dropped: 5,
    });
    await time.advance(5_000);
    t.match(await read([]), { replicas: ['own'], sampled: false, dropped: 5 });
  },
);

t.test('the state adds up what the replicas have open, this one from the first moment on', async (t) => {
  const { time, state, tails } = watching();
  state.own = { requests: 1, streams: 2 };
  const tail = await tails.open({});
  t.same(tail?.state.open, { requests: 1, streams: 2 });
  state.own = { requests: 4, streams: 0 };
  const replicas = [
    // What this replica has told is older than what it knows.
    { id: 'own', dropped: 0, open: { requests: 1, streams: 2 } },
    { id: 'other', dropped: 0, open: { requests: 10, streams: 20 } },
    { id: 'third', dropped: 0, open: { requests: 100, streams: 200 } },
  ];
  state.reading = { lines: [], replicas };
  t.same((await later(time, tail))?.state.open, { requests: 114, streams: 220 });
});

t.test('a tail ends on a drain, and when the store no longer knows it', async (t) => {
  const { time, collected, state, tails } = watching();
  const tail = await tails.open({});
  t.same([...collected], ['tail']);
  state.leaving = true;
  t.equal(await later(time, tail), null);
  state.leaving = false;
  state.reading = null;
  t.equal(await later(time, tail), null);
  state.away = true;
  await Promise.all([tail?.close(), tail?.close()]);
  t.equal(state.closed, 1, 'closed once, whoever asks');
  t.equal(collected.size, 0);
});

t.test('nothing is collected for a tail that is one too many', async (t) => {
  const { collected, state, tails } = watching();
  state.isFull = true;
  t.equal(await tails.open({}), null);
  t.equal(collected.size, 0);
});
