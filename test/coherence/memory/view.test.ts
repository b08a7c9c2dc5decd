// class: pure
import t from 'tap';
import fc from 'fast-check';
import { digestSecret, type KeyDigest } from '../../../src/domain/api-key.ts';
import { View } from '../../../src/coherence/memory/view.ts';
import { RecentChanges } from '../../../src/coherence/memory/recent-changes.ts';
import type { LogReading } from '../../../src/ports/coherence-log.ts';
import { factKey, type FactKey } from '../../../src/ports/facts.ts';

const reading = (over: Partial<LogReading>): LogReading => ({
  incarnation: 'i',
  seq: 0,
  through: over.seq ?? 0,
  floor: 1,
  entries: [],
  ...over,
});
const entry = (seq: number, key: FactKey, revoked = false) => ({ seq, key, revoked });
const fact = (seq: number, value: number | null = 1, incarnation = 'i') => ({ value, seq, incarnation });

const digests = Array.from({ length: 1_000 }, (_, i) => digestSecret(`${i}`));

function view(first: Partial<LogReading> = {}): View {
  const made = new View({ facts: 100, unknownKeys: 4 });
  made.take(reading(first));
  return made;
}

t.test(
  'the memory of recent changes admits exactly what saw the last change, as far back as it is complete',
  async () => {
    const keys: FactKey[] = ['n:a', 'n:b', 'n:c'];
    const changes = fc.array(fc.constantFrom(...keys), { maxLength: 30 });
    fc.assert(
      fc.property(changes, fc.nat(32), fc.nat(32), fc.constantFrom(...keys), (log, floor, stamp, asked) => {
        const recent = new RecentChanges();
        log.forEach((key, i) => recent.record(key, i + 1));
        recent.raiseFloor(floor);
        const changedAfter = log.some((key, i) => i + 1 > stamp && i + 1 >= floor && key === asked);
        const complete = stamp + 1 >= floor;
        return recent.admits(asked, stamp) === (complete && !changedAfter);
      }),
    );
  },
);

t.test('the memory of recent changes forgets what the log no longer keeps', async (t) => {
  const recent = new RecentChanges();
  for (let seq = 1; seq <= 100; seq++) recent.record(`n:${seq % 10}`, seq);
  recent.raiseFloor(96);
  t.equal(recent.size, 5);
  recent.raiseFloor(50);
  t.equal(recent.floor, 96);
});

t.test('it remembers so many facts, and then rejects what may be older than what it forgot', async (t) => {
  const recent = new RecentChanges(100);
  for (let seq = 1; seq <= 10_000; seq++) {
    recent.record(`n:${seq}`, seq);
    if (recent.size > 110) t.fail(`${recent.size} facts after ${seq} changes`);
  }
  t.equal(recent.floor, 10_001 - recent.size);
  t.equal(recent.evictedBelow, recent.floor);
  t.equal(recent.admits('n:1', recent.floor - 2), false);
  t.equal(recent.admits('n:1', recent.floor - 1), true);
  for (let seq = 10_001; seq <= 20_000; seq++) recent.record('n:same', seq);
  t.ok(recent.size > 90, 'one fact that changes often pushes no other out');
});

t.test(
  'after a page, everything up to there is dropped, but nothing is confirmed before the last one',
  async (t) => {
    const it = view();
    it.keep('n:a', fact(0), 0);
    t.same([it.through, it.applied], [0, 0]);
    const first = it.take(reading({ seq: 9, through: 4, entries: [entry(2, 'n:a', true)] }));
    t.match(first, { revoked: new Set(['n:a']) });
    t.same([it.through, it.applied, it.find('n:a')?.value], [4, 0, undefined]);
    t.not(it.take(reading({ seq: 12, through: 12, floor: 5, entries: [entry(11, 'n:b')] })), 'lost');
    t.same([it.through, it.applied], [12, 12]);
    it.take(reading({ seq: 20, through: 15 }));
    t.equal(it.take(reading({ seq: 22, through: 22, floor: 17 })), 'lost', 'pruned between two pages');
    it.forget();
    t.equal(it.through, null);
  },
);

t.test(
  'a reading drops the facts it touches and tells which were revoked, and which keys and accounts changed',
  async (t) => {
    const it = view();
    for (const key of ['n:a', 'n:b', 'n:c'] as const) it.keep(key, fact(0), 0);
    const entries = [
      entry(1, 'n:a', true),
      entry(2, 'n:b'),
      entry(2, 'k:a', true),
      entry(2, 'k:b'),
      entry(2, 'a:p', true),
      entry(2, 'q:p' as FactKey),
    ];
    t.same(it.take(reading({ seq: 2, entries })), {
      revoked: new Set(['n:a', 'k:a', 'a:p']),
      changedKeys: new Set(['k:b']),
      differed: new Set(),
    });
    t.same([it.find('n:a')?.value, it.find('n:b')?.value, it.find('n:c')?.value], [undefined, undefined, 1]);
  },
);

t.test('a fact that was read after the change survives its reading', async (t) => {
  const it = view();
  it.keep('n:a', fact(3, 7), 0);
  it.take(reading({ seq: 3, entries: [entry(2, 'n:a')] }));
  t.equal(it.find('n:a')?.value, 7);
});

t.test('what is too old, or of another history, does not get in', async (t) => {
  const it = view({ seq: 5, floor: 3, entries: [entry(4, 'n:a')] });
  it.keep('n:a', fact(3), 0);
  it.keep('n:b', fact(1), 0);
  it.keep('n:c', fact(9, 1, 'other'), 0);
  t.same(
    [it.find('n:a')?.value, it.find('n:b')?.value, it.find('n:c')?.value],
    [undefined, undefined, undefined],
  );
  it.keep('n:a', fact(4), 0);
  it.keep('n:b', fact(2), 0);
  t.same([it.find('n:a')?.value, it.find('n:b')?.value], [1, 1]);
});

t.test('a log that is empty and pruned admits what was read at its end', async (t) => {
  t.equal(view({ seq: 100, floor: 101 }).admits('n:a', fact(100)), true);
  t.equal(view({ seq: 100, floor: 101 }).admits('n:a', fact(99)), false);
});

t.test('a reading that does not continue what is known is rejected whole', async (t) => {
  for (const [what, broken] of [
    ['another history', { incarnation: 'j', seq: 9 }],
    ['positions went back', { seq: 4 }],
    ['the log was pruned past this replica', { seq: 9, floor: 7 }],
  ] as const) {
    const it = view({ seq: 5 });
    it.keep('n:a', fact(5), 0);
    t.equal(it.take(reading(broken)), 'lost', what);
    t.equal(it.applied, 5, what);
    it.forget();
    t.equal(it.find('n:a')?.value, undefined, what);
    t.not(it.take(reading(broken)), 'lost', what);
  }
  t.not(view({ seq: 5 }).take(reading({ seq: 9, floor: 6 })), 'lost', 'nothing is missing in between');
});

t.test('absence is kept for keys alone, and apart from the facts', async (t) => {
  const it = view();
  for (const [key, name] of [
    ['a:x', 'x'],
    ['x:p:e', 'x:p:e'],
    ['n:p', 'n:p'],
  ] as const) {
    it.keep(key, fact(0, null), 0);
    t.equal(it.find(name)?.value, undefined, key);
  }
  for (let i = 0; i < 100; i++) it.keep(`n:${i}`, fact(0), 0);
  for (const digest of digests) it.keep(factKey.key(digest), fact(0, null), 0);
  t.equal(it.findKey(digests.at(-1) ?? '')?.value, null);
  t.same(it.sizes, { facts: 100, unknownKeys: 4, recentChanges: 0 });
});

t.test('keys and other facts have one bound together, and the fuller of the two makes room', async (t) => {
  const it = view();
  for (let i = 0; i < 30; i++) it.keep(`n:${i}`, fact(0), 0);
  for (const digest of digests) it.keep(factKey.key(digest), fact(0), 0);
  t.equal(it.sizes.facts, 100);
  for (let i = 0; i < 30; i++) t.equal(it.find(`n:${i}`)?.value, 1);
  for (let i = 0; i < 1_000; i++) it.keep(`n:${i}`, fact(0), 0);
  t.equal(it.sizes.facts, 100);
  const keys = digests.filter((digest) => it.findKey(digest) !== undefined);
  t.equal(keys.length, 50);
});

t.test('a change drops a key, known or unknown', async (t) => {
  const it = view();
  const [known, unknown] = digests as [KeyDigest, KeyDigest];
  it.keep(factKey.key(known), fact(0), 0);
  it.keep(factKey.key(unknown), fact(0, null), 0);
  const entries = [entry(1, factKey.key(known), true), entry(2, factKey.key(unknown))];
  it.take(reading({ seq: 2, entries }));
  t.same([it.findKey(known), it.findKey(unknown)], [undefined, undefined]);
});

t.test('what is kept over a change of history decides nothing before it is read again', async (t) => {
  const it = view({ seq: 5 });
  const key = digests[0] as KeyDigest;
  for (const name of ['a:p', 'n:p', factKey.key(key)] as const) it.keep(name, fact(5), 0);
  it.forget();
  t.same([it.held, it.unproven, it.sizes.facts], [3, 3, 0]);
  const values = (): unknown[] => [it.findKey(key)?.value, it.find('p')?.value, it.find('n:p')?.value];
  t.same(values(), [undefined, undefined, undefined]);
  it.keep('n:p', fact(5), 1);
  t.same(values(), [undefined, undefined, undefined], 'nor by a late reading of the old one');
  it.take(reading({ incarnation: 'other', seq: 2, entries: [entry(1, 'a:p')] }));
  t.same(
    [it.unproven, it.oldest(10)],
    [3, [factKey.key(key)]],
    'a change in the other history drops no name',
  );
  it.keep(factKey.key(key), fact(2, null, 'other'), 1);
  t.same(new Set(it.oldest(10)), new Set(['a:p', 'n:p']));
  it.keep('a:p', fact(2, 7, 'other'), 1);
  it.keep('n:p', fact(1, 0, 'other'), 1);
  t.same(values(), [null, 7, 0]);
  t.same([it.held, it.unproven, it.sizes.facts], [2, 0, 2]);
});

t.test(
  'a fact that differs is replaced at once, and told of once no change in the log explains it',
  async (t) => {
    const it = view({ seq: 5 });
    const differed = (taken: ReturnType<View['take']>): readonly FactKey[] =>
      taken === 'lost' ? [] : [...taken.differed];
    for (const name of ['a:p', 'a:q', 'a:r', 'n:p'] as const) it.keep(name, fact(5), 0);
    const { version } = it;
    it.keep('a:p', fact(5, 2), 1);
    t.same([it.find('p')?.value, it.version > version], [2, true]);
    it.keep('a:q', fact(7, 2), 1);
    it.keep('a:r', fact(7, 2), 1);
    it.keep('n:p', fact(7, 3), 1);
    t.same(differed(it.take(reading({ seq: 6 }))), ['a:p'], 'the log does not go as far for the others');
    t.same(differed(it.take(reading({ seq: 7, entries: [entry(7, 'a:q')] }))), ['a:r']);
    t.same(differed(it.take(reading({ seq: 8 }))), []);
    it.keep('a:p', fact(8, null), 1);
    t.equal(it.find('p'), undefined);
    it.keep('n:p', fact(8, 0), 1);
    t.same(
      differed(it.take(reading({ seq: 8 }))),
      ['a:p', 'n:p'],
      'one that is gone, and a count that became 0',
    );
  },
);

t.test('facts are read again in the order in which they were last read', async (t) => {
  const it = view({ seq: 5 });
  const key = factKey.key(digests[0] as KeyDigest);
  it.keep('a:p', fact(5), 1);
  it.keep(key, fact(5), 2);
  it.keep('x:p:name', fact(5), 3);
  t.same([it.oldestS, it.oldest(1)], [1, ['a:p']]);
  it.keep('a:p', fact(5), 4);
  t.same([it.oldestS, it.oldest(9)], [2, [key]]);
  it.keep(key, fact(5), 5);
  t.same([it.oldestS, it.oldest(9)], [3, ['x:p:name', 'a:p']]);
});
