import t from 'tap';
import { KeyReads } from '../../src/coherence/key-reads.ts';
import { timingFor } from '../../src/coherence/timing.ts';
import type { ProblemError } from '../../src/domain/problem.ts';
import type { ApiKeyName, FactReading } from '../../src/ports/facts.ts';
import { everythingThatFollows, ManualTime } from '../support/coherence/manual-time.ts';

const timing = timingFor(3_000);

/** Reads that end when the test says so. */
function makeReads() {
  const time = new ManualTime();
  const under: { keys: readonly ApiKeyName[]; end: () => void; fail: (error: Error) => void }[] = [];
  const reads = new KeyReads(
    time.clock,
    timing,
    (keys) =>
      new Promise<FactReading>((resolve, reject) => {
        const end = (): void => resolve(readingOf(keys));
        under.push({ keys, end, fail: reject });
      }),
  );
  const outcomes: string[] = [];
  const ask = (count: number, first = 0): void => {
    for (let i = first; i < first + count; i++) {
      reads.read(`k:${i}`).then(
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

t.test('a key alone is read at once, and those that come meanwhile together', async (t) => {
  const { under, ask, outcomes } = makeReads();
  ask(1);
  ask(20, 1);
  t.same(
    under.map(({ keys }) => keys.length),
    [1],
  );
  under[0]?.end();
  await everythingThatFollows();
  t.same(under[1]?.keys.length, 20);
  under[1]?.end();
  await everythingThatFollows();
  t.same(outcomes, Array(21).fill('read'));
});

t.test('a flood takes a few readings of many keys; what is too much is refused', async (t) => {
  const { under, ask, outcomes } = makeReads();
  ask(5_000);
  await everythingThatFollows();
  t.equal(under.length, 4);
  t.same(new Set(outcomes), new Set(['overloaded']));
  const refused = outcomes.length;
  for (let ended = 0; ended < under.length; ended++) {
    under[ended]?.end();
    await everythingThatFollows();
  }
  t.equal(outcomes.filter((outcome) => outcome === 'read').length, 5_000 - refused);
  t.ok(under.every(({ keys }) => keys.length <= 128));
  t.ok(under.length < 40, `${under.length} readings`);
});

t.test('a reading that fails fails its own keys alone, and makes room', async (t) => {
  const { under, ask, outcomes } = makeReads();
  ask(3);
  under[0]?.fail(new Error('broken'));
  await everythingThatFollows();
  t.same(outcomes, ['broken']);
  under[1]?.end();
  await everythingThatFollows();
  t.same(outcomes, ['broken', 'read', 'read']);
});

t.test('nobody waits longer than a request may', async (t) => {
  const { time, under, ask, outcomes } = makeReads();
  ask(2);
  await time.advance(timing.settleMs - timing.stepMs + 1);
  ask(1, 2);
  under[0]?.end();
  await everythingThatFollows();
  // The second could be read until after its caller is gone; the third in time.
  t.same(outcomes, ['unavailable', 'read']);
  t.same(under[1]?.keys, ['k:2']);
});
