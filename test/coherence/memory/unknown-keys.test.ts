// class: pure, alone
import t from 'tap';
import { UnknownKeys } from '../../../src/coherence/memory/unknown-keys.ts';
import { digestSecret } from '../../../src/domain/api-key.ts';
import { Random } from '../../support/coherence/random.ts';

const digests = Array.from({ length: 3_000 }, (_, i) => digestSecret(`${i}`));
const digest = (i: number): string => digests[i] as string;

t.test(
  'it holds the keys that were asked for last: half of what it may at least, never more than all',
  async (t) => {
    for (const most of [2, 3, 10, 1_000]) {
      const keys = new UnknownKeys(most);
      for (let i = 0; i < digests.length; i++) {
        keys.add(digest(i), 1);
        if (keys.size > most) t.fail(`${keys.size} of ${most}`);
        for (let back = 0; back < Math.min(Math.floor(most / 2), i, 10); back++)
          if (!keys.has(digest(i - back))) return t.fail(`${back} before ${i} of ${most}`);
      }
      t.equal(keys.has(digest(0)), false);
    }
  },
);

t.test('a key that is asked for again and again stays, whatever comes between', async (t) => {
  const keys = new UnknownKeys(100);
  keys.add(digest(0), 1);
  for (let i = 1; i < digests.length; i++) {
    keys.add(digest(i), 1);
    if (i % 40 === 0 && !keys.has(digest(0))) return t.fail(`after ${i}`);
  }
  t.equal(keys.has(digest(0)), true);
});

t.test('it finds what a map would, while everything fits', async (t) => {
  const random = new Random(3);
  const keys = new UnknownKeys(1_000);
  const model = new Map<string, number>();
  for (let step = 1; step < 50_000; step++) {
    const name = digest(random.below(400));
    if (random.chance(0.4)) {
      const seq = random.below(step);
      keys.add(name, seq);
      model.set(name, Math.max(seq, model.get(name) ?? 0));
    } else if (random.chance(0.2)) {
      const seq = random.below(step);
      keys.dropOlder(name, seq);
      if ((model.get(name) ?? Infinity) < seq) model.delete(name);
    } else if (random.chance(0.0005)) {
      keys.clear();
      model.clear();
    }
    if (keys.has(name) !== model.has(name)) return t.fail(`step ${step}`);
    if (keys.size !== model.size) return t.fail(`step ${step}: ${keys.size} of ${model.size}`);
  }
  t.ok(model.size > 50);
});

t.test('digests that differ in one bit are two keys', async (t) => {
  const keys = new UnknownKeys(1_000);
  const bytes = Buffer.from(digest(0), 'base64url');
  keys.add(digest(0), 1);
  for (let bit = 0; bit < 256; bit++) {
    const other = Buffer.from(bytes);
    other[bit >> 3] = (other[bit >> 3] as number) ^ (1 << (bit & 7));
    t.notOk(keys.has(other.toString('base64url')), `bit ${bit}`);
  }
});

t.test('what is no digest is not held', async (t) => {
  const keys = new UnknownKeys(10);
  for (const text of ['', 'x', digest(0).slice(1)]) {
    keys.add(text, 1);
    keys.dropOlder(text, 2);
    t.equal(keys.has(text), false);
  }
  t.equal(keys.size, 0);
});

t.test('a flood leaves no objects behind', async (t) => {
  const keys = new UnknownKeys(6_000);
  const round = (): void => {
    for (const name of digests) {
      if (!keys.has(name)) keys.add(name, 1);
    }
    keys.clear();
  };
  const allocated = (): number => {
    const before = process.memoryUsage().heapUsed;
    for (let i = 0; i < 20; i++) round();
    return (process.memoryUsage().heapUsed - before) / (20 * digests.length);
  };
  // Code that is not compiled yet allocates, and on a busy machine compiling takes its time.
  let perKey = allocated();
  for (let i = 0; i < 50 && !(perKey >= 0 && perKey < 20); i++) perKey = allocated();
  t.ok(perKey < 20, `${perKey.toFixed(1)} bytes a key`);
});
