// class: pure
import t from 'tap';
import { Reads, type ReadsLimits } from '../../../src/coherence/loading/reads.ts';
import { overloaded, tooManyLookUps } from '../../../src/coherence/unavailable.ts';
import { timingFor } from '../../../src/coherence/timing.ts';
import { ProblemError } from '../../../src/domain/problem.ts';
import type { FactKey, FactReading } from '../../../src/ports/facts.ts';
import { everythingThatFollows, ManualTime } from '../../support/coherence/manual-time.ts';

const timing = timingFor(3_000);

/** As for keys: askers have no pauses, and what comes shortly after another is gathered. */
const gathering: ReadsLimits = {
  ...{ readings: 4, facts: 128, ofOne: 128, turn: 8, waitingOfOne: 2_000, waiting: 4_000 },
  ...{ gatherMs: 5, pauseMs: 0, tooMuchOfOne: overloaded },
};
/** As for other facts: an asker has one reading at a time, with few facts, and pauses. */
const pausing: ReadsLimits = {
  ...{ readings: 4, facts: 128, ofOne: 32, turn: 8, waitingOfOne: 2_000, waiting: 10_000 },
  ...{ gatherMs: 0, pauseMs: 50, tooMuchOfOne: tooManyLookUps },
};

/** Reads that end when the test says so. */
function makeReads(limits: ReadsLimits) {
  const time = new ManualTime();
  const under: { asked: readonly FactKey[]; end: () => Promise<void>; fail: (error: Error) => void }[] = [];
  const reads = new Reads(
    time,
    timing,
    limits,
    (asked) =>
      new Promise<FactReading>((resolve, reject) => {
        const end = (): Promise<void> => {
          resolve({ seq: 1, incarnation: 'i', facts: new Map(asked.map((key) => [key, null])) });
          return everythingThatFollows();
        };
        under.push({ asked, end, fail: reject });
      }),
  );
  const outcomes: Record<string, string[]> = {};
  let asked = 0;
  /** An asker asks for so many facts, all of them at once. */
  const ask = (asker: string, count: number): void => {
    const got = (outcomes[asker] ??= []);
    for (let i = 0; i < count; i++) {
      const key = `x:${asker}:${++asked}` as const;
      reads.read(key, asker).then(
        ({ facts }) => got.push(facts.has(key) ? 'read' : 'not in it'),
        (error: unknown) =>
          got.push(error instanceof ProblemError ? error.problem.code : (error as Error).message),
      );
    }
  };
  const sizes = (): number[] => under.map(({ asked }) => asked.length);
  const askersOf = (reading: number): Set<string | undefined> =>
    new Set(under[reading]?.asked.map((key) => key.split(':')[1]));
  /** Ends every reading, and those that follow. */
  const endAll = async (stepMs: number): Promise<void> => {
    for (let ended = 0; ended < under.length; ended++) {
      await under[ended]?.end();
      await time.advance(stepMs);
    }
  };
  return { time, under, ask, outcomes, sizes, askersOf, endAll };
}

t.test('a thousand askers with one fact each take a few readings', async (t) => {
  const { ask, outcomes, sizes, endAll } = makeReads(pausing);
  for (let i = 0; i < 1_000; i++) ask(`tenant ${i}`, 1);
  await endAll(1);
  t.same(new Set(Object.values(outcomes).flat()), new Set(['read']));
  t.same(sizes(), [1, 1, 1, 1, ...Array<number>(7).fill(128), 100]);
});

t.test('one alone is read at once, and those that come shortly after it together', async (t) => {
  const { time, under, ask, outcomes, sizes } = makeReads(gathering);
  ask('one', 1);
  ask('one', 20);
  await under[0]?.end();
  await time.advance(4.9);
  t.same(sizes(), [1]);
  await time.advance(0.2);
  t.same(sizes(), [1, 20]);
  await under[1]?.end();
  await time.advance(5);
  t.same(outcomes['one'], Array(21).fill('read'));
  ask('one', 1);
  t.equal(under.length, 3);
});

t.test('a reading that takes long does not keep the next one waiting', async (t) => {
  const { time, under, ask } = makeReads(gathering);
  ask('one', 2);
  await time.advance(5.1);
  t.equal(under.length, 2);
});

t.test('a flood takes a few readings of many facts; what is too much is rejected', async (t) => {
  const { ask, outcomes, sizes, endAll } = makeReads(gathering);
  for (let i = 0; i < 3; i++) ask(`flood ${i}`, 1_900);
  await everythingThatFollows();
  t.same(sizes(), [1, 128, 128, 128], 'those that are full do not wait');
  const early = Object.values(outcomes).flat();
  t.same(new Set(early), new Set(['overloaded']));
  await endAll(6);
  const all = Object.values(outcomes).flat();
  t.equal(all.filter((outcome) => outcome === 'read').length, 5_700 - early.length);
  t.ok(sizes().every((size) => size <= 128));
  t.ok(sizes().length < 40, `${sizes().length} readings`);
});

for (const [what, limits] of Object.entries({ gathering, pausing })) {
  t.test(`${what}: the one fact of an asker is in the next reading, however many another has`, async (t) => {
    const { time, under, ask, askersOf } = makeReads(limits);
    ask('loud', 1_900);
    ask('other', 1_900);
    for (let i = 0; i < 4; i++) ask(`filler ${i}`, 1);
    await time.advance(6);
    ask('quiet', 1);
    const before = under.length;
    await under[0]?.end();
    await time.advance(limits.pauseMs + 6);
    t.ok(askersOf(before).has('quiet'));
  });
}

t.test('what the others leave of a reading is for the one that asks for most', async (t) => {
  const { time, under, ask, sizes, askersOf } = makeReads(gathering);
  ask('loud', 1_900);
  ask('quiet', 1);
  await under[0]?.end();
  await time.advance(6);
  const last = under.length - 1;
  t.same([sizes()[last], askersOf(last)], [128, new Set(['loud', 'quiet'])]);
});

t.test('1,500 facts of one asker take 48 readings, one after the other, with pauses', async (t) => {
  const { time, under, ask, outcomes, sizes } = makeReads(pausing);
  ask('loud', 1_500);
  for (let ended = 0; ended < under.length; ended++) {
    t.equal(under.length, ended + 1, 'none begins before the one before it has ended');
    await under[ended]?.end();
    await time.advance(1);
  }
  t.same(sizes(), [1, ...Array<number>(46).fill(32), 27]);
  t.same(outcomes['loud'], Array(1_500).fill('read'));
});

t.test(
  'an asker that has more waiting pauses for as long as its reading took, 50 ms at most, and no other does',
  async (t) => {
    const { time, under, ask, sizes } = makeReads(pausing);
    ask('loud', 100);
    await time.advance(20);
    await under[0]?.end();
    await time.advance(19);
    ask('quiet', 1);
    t.same(sizes(), [1, 1]);
    await time.advance(1);
    t.same(sizes(), [1, 1, 32]);
    await time.advance(200);
    await under[2]?.end();
    await time.advance(50);
    t.same(sizes(), [1, 1, 32, 32]);
  },
);

t.test('what is too much of one asker is rejected as its own, and others go on', async (t) => {
  const { under, ask, outcomes } = makeReads(pausing);
  ask('loud', 2_010);
  await everythingThatFollows();
  t.same(outcomes['loud'], Array(9).fill('too_many_requests'));
  ask('quiet', 1);
  await under[1]?.end();
  t.same(outcomes['quiet'], ['read']);
});

t.test('what is too much of all askers together is rejected as overload', async (t) => {
  const { ask, outcomes } = makeReads(pausing);
  for (let i = 0; i < 6; i++) ask(`loud ${i}`, 1_900);
  await everythingThatFollows();
  t.same(new Set(Object.values(outcomes).flat()), new Set(['overloaded']));
});

t.test('a reading that fails fails its own facts alone, and makes room', async (t) => {
  const { time, under, ask, outcomes } = makeReads(pausing);
  ask('loud', 3);
  under[0]?.fail(new Error('broken'));
  await time.advance(1);
  t.same(outcomes['loud'], ['broken']);
  await under[1]?.end();
  t.same(outcomes['loud'], ['broken', 'read', 'read']);
});

t.test(
  'nothing waits longer than a request may, and nothing is read for a request that is gone',
  async (t) => {
    const { time, under, ask, outcomes } = makeReads(gathering);
    // Four readings that hang, and facts that wait for one of them to end.
    for (let reading = 0; reading < 4; reading++) {
      ask('hanging', 1);
      await time.advance(6);
    }
    t.equal(under.length, 4);
    ask('late', 1);
    await time.advance(1.25 * (timing.lookUpMs - timing.storeMs) + 1);
    t.same(outcomes['late'], ['unavailable'], 'rejected though no reading has ended');
    ask('in time', 1);
    await under[0]?.end();
    await time.advance(6);
    t.same([under.length, under[4]?.asked.length], [5, 1]);
    await under[4]?.end();
    t.same(outcomes['in time'], ['read']);
  },
);

t.test('facts that nobody waits for any more hold back no fact behind them', async (t) => {
  const { time, under, ask, askersOf } = makeReads(pausing);
  const mayWaitMs = timing.storeMs;
  for (let i = 0; i < pausing.readings; i++) ask(`busy ${i}`, 1);
  await time.advance(1);
  ask('cold', pausing.ofOne + 8);
  await time.advance(1.1 * mayWaitMs);
  ask('cold', 1);
  await under[0]?.end();
  t.same(askersOf(pausing.readings), new Set(['cold']));
});
