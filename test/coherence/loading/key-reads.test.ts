import t from 'tap';
import { KeyReads } from '../../../src/coherence/loading/key-reads.ts';
import { timingFor } from '../../../src/coherence/timing.ts';
import type { ProblemError } from '../../../src/domain/problem.ts';
import type { ApiKeyName, FactReading } from '../../../src/ports/facts.ts';
import { everythingThatFollows, ManualTime } from '../../support/coherence/manual-time.ts';

const timing = timingFor(3_000);

/** Reads that end when the test says so. */
function makeReads() {
  const time = new ManualTime();
  const under: { keys: readonly ApiKeyName[]; end: () => void; fail: (error: Error) => void }[] = [];
  const reads = new KeyReads(
    time,
    timing,
    (keys) =>
      new Promise<FactReading>((resolve, reject) => {
        const end = (): void => resolve(readingOf(keys));
        under.push({ keys, end, fail: reject });
      }),
  );
  const outcomes: string[] = [];
  const ask = (count: number, first = 0, from = 'one client'): void => {
    for (let i = first; i < first + count; i++) {
      reads.read(`k:${i}`, from).then(
        ({ facts }) => outcomes.push(facts.has(`k:${i}`) ? 'read' : 'not in it'),
        (error: ProblemError | Error) =>
          outcomes.push('problem' in error ? error.problem.code : error.message),
      );
    }
  };
  return { time, under, ask, outcomes };
}

function readingOf(keys: readonly ApiKeyName[]): FactReading {
  return { seq: 1, incarnation: 'i', facts: new Map(keys.map((key) => [key, null])) };
}

t.test('a key alone is read at once, and those that come shortly after it together', async (t) => {
  const { time, under, ask, outcomes } = makeReads();
  ask(1);
  ask(20, 1);
  under[0]?.end();
  await time.advance(4.9);
  t.same(
    under.map(({ keys }) => keys.length),
    [1],
  );
  await time.advance(0.2);
  t.same(under[1]?.keys.length, 20);
  under[1]?.end();
  await time.advance(5);
  t.same(outcomes, Array(21).fill('read'));
  ask(1, 21);
  t.equal(under.length, 3);
});

t.test('a reading that takes long does not keep the next one waiting', async (t) => {
  const { time, under, ask } = makeReads();
  ask(1);
  ask(1, 1);
  await time.advance(5.1);
  t.equal(under.length, 2);
});

t.test('a flood takes a few readings of many keys; what is too much is rejected', async (t) => {
  const { time, under, ask, outcomes } = makeReads();
  ask(5_000);
  await everythingThatFollows();
  t.equal(under.length, 4, 'those that are full do not wait');
  t.same(new Set(outcomes), new Set(['overloaded']));
  const rejected = outcomes.length;
  for (let ended = 0; ended < under.length; ended++) {
    under[ended]?.end();
    await time.advance(6);
  }
  t.equal(outcomes.filter((outcome) => outcome === 'read').length, 5_000 - rejected);
  t.ok(under.every(({ keys }) => keys.length <= 128));
  t.ok(under.length < 40, `${under.length} readings`);
});

t.test(
  'clients take turns: the one key of a client is in the next reading, however many another one sends',
  async (t) => {
    const { time, under, ask, outcomes } = makeReads();
    ask(5_000, 0, 'a flood');
    ask(1, 5_000, 'a customer');
    await everythingThatFollows();
    t.same(new Set(outcomes), new Set(['overloaded']), 'the flood is too much, the customer is not');
    under[0]?.end();
    await time.advance(6);
    const last = under.at(-1)?.keys ?? [];
    t.ok(last.includes('k:5000'));
    t.equal(last.length, 128, 'what the others leave is for the flood');

    ask(3_000, 6_000, 'a second flood');
    outcomes.length = 0;
    ask(100, 9_000, 'another customer');
    await everythingThatFollows();
    t.same(new Set(outcomes), new Set(['overloaded']), 'many networks together have a limit, too');
  },
);

t.test('a reading that fails fails its own keys alone, and makes room', async (t) => {
  const { time, under, ask, outcomes } = makeReads();
  ask(3);
  under[0]?.fail(new Error('broken'));
  await time.advance(6);
  t.same(outcomes, ['broken']);
  under[1]?.end();
  await everythingThatFollows();
  t.same(outcomes, ['broken', 'read', 'read']);
});

t.test('no look-up waits longer than a request may', async (t) => {
  const { time, under, ask, outcomes } = makeReads();
  // Four readings that hang, and keys that wait for one of them to end.
  for (let reading = 0; reading < 4; reading++) {
    ask(1, reading);
    await time.advance(6);
  }
  t.equal(under.length, 4);
  ask(1, 4);
  await time.advance(timing.lookUpMs - timing.storeMs + 1);
  ask(1, 5);
  under[0]?.end();
  await time.advance(6);
  // The one could be read until after its caller is gone; the other in time.
  t.same(outcomes.sort(), ['read', 'unavailable']);
  t.same(under[4]?.keys, ['k:5']);
});
