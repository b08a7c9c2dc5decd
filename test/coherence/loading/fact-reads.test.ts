import t from 'tap';
import { FactReads } from '../../../src/coherence/loading/fact-reads.ts';
import { timingFor } from '../../../src/coherence/timing.ts';
import { ProblemError } from '../../../src/domain/problem.ts';
import type { FactKey, FactReading } from '../../../src/ports/facts.ts';
import { everythingThatFollows, ManualTime } from '../../support/coherence/manual-time.ts';

const timing = timingFor(3_000);

/** Reads that end when the test says so. */
function makeReads() {
  const time = new ManualTime();
  const under: { asked: readonly FactKey[]; end: () => Promise<void>; fail: (error: Error) => void }[] = [];
  const reads = new FactReads(
    time,
    timing,
    (asked) =>
      new Promise<FactReading>((resolve, reject) => {
        const facts = new Map(asked.map((key) => [key, null]));
        const end = (): Promise<void> => {
          resolve({ seq: 1, incarnation: 'i', facts });
          return everythingThatFollows();
        };
        under.push({ asked, end, fail: reject });
      }),
  );
  const outcomes: Record<string, string[]> = {};
  /** A tenant asks for so many names, all of them at once. */
  const ask = (tenant: string, count: number, kind: 'x:' | 'a:' = 'x:'): void => {
    const of = (outcomes[tenant] ??= []);
    for (let i = 0; i < count; i++) {
      const key = kind === 'x:' ? (`x:${tenant}:${i}` as const) : (`a:${tenant}${i}` as const);
      reads.read(key, tenant).then(
        ({ facts }) => of.push(facts.has(key) ? 'read' : 'not in it'),
        (error: unknown) =>
          of.push(error instanceof ProblemError ? error.problem.code : (error as Error).message),
      );
    }
  };
  const sizes = (): number[] => under.map(({ asked }) => asked.length);
  return { time, under, ask, outcomes, sizes };
}

t.test('1,500 unknown names of one tenant take 48 readings, one after the other', async (t) => {
  const { time, under, ask, outcomes, sizes } = makeReads();
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
  'a tenant that has more waiting pauses for as long as its reading took, 50 ms at most, and no other does',
  async (t) => {
    const { time, under, ask, sizes } = makeReads();
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

t.test("another tenant's name is read at once, whatever waits of the first one", async (t) => {
  const { under, ask, outcomes } = makeReads();
  ask('loud', 1_500);
  ask('quiet', 1);
  t.same(under[1]?.asked, ['x:quiet:0']);
  await under[1]?.end();
  t.same(outcomes, { loud: [], quiet: ['read'] });
});

t.test(
  'where all readings are taken, the next is for a tenant that has none, not for one that had its turn',
  async (t) => {
    const { under, ask } = makeReads();
    for (let i = 0; i < 8; i++) ask(`loud ${i}`, 200);
    ask('quiet', 1);
    t.equal(under.length, 8);
    await under[3]?.end();
    t.equal(under[8]?.asked[0], 'x:quiet:0');
  },
);

t.test('names and accounts of one tenant are read apart, neither behind the other', (t) => {
  const { ask, sizes } = makeReads();
  ask('loud', 300);
  ask('loud', 1, 'a:');
  t.same(sizes(), [1, 1]);
  t.end();
});

t.test('what is too much of one tenant is rejected as its own, and others go on', async (t) => {
  const { under, ask, outcomes } = makeReads();
  ask('loud', 2_010);
  await everythingThatFollows();
  t.same(outcomes['loud'], Array(9).fill('too_many_requests'));
  ask('quiet', 1);
  await under[1]?.end();
  t.same(outcomes['quiet'], ['read']);
});

t.test('what is too much of all tenants together is rejected as overload', async (t) => {
  const { ask, outcomes } = makeReads();
  for (let i = 0; i < 6; i++) ask(`loud ${i}`, 1_900);
  await everythingThatFollows();
  const codes = new Set(Object.values(outcomes).flat());
  t.same(codes, new Set(['overloaded']));
});

t.test('a reading that fails fails its own facts alone, and makes room', async (t) => {
  const { time, under, ask, outcomes } = makeReads();
  ask('loud', 3);
  under[0]?.fail(new Error('broken'));
  await time.advance(1);
  t.same(outcomes['loud'], ['broken']);
  await under[1]?.end();
  t.same(outcomes['loud'], ['broken', 'read', 'read']);
});

t.test(
  'no look-up waits longer than a request may, and none is made for a request that is gone',
  async (t) => {
    const { time, under, ask, outcomes } = makeReads();
    ask('loud', 1);
    ask('loud', 1);
    await time.advance(timing.lookUpMs + 1);
    t.equal(outcomes['loud']?.length, 2);
    await under[0]?.end();
    await time.advance(50);
    t.equal(under.length, 1);
  },
);
