import t from 'tap';
import { LocalCache } from '../../src/coherence/local-cache.ts';
import type { FactKey } from '../../src/ports/facts.ts';
import { Random } from '../support/coherence/random.ts';

const key = (i: number): FactKey => `n:${i}`;

t.test('it never holds more than it may', async (t) => {
  const cache = new LocalCache(10);
  let most = 0;
  for (let i = 0; i < 1_000; i++) {
    cache.put(key(i), i, 1);
    if (i % 3 === 0) cache.find(key(i - 2));
    most = Math.max(most, cache.size);
  }
  t.equal(most, 10);
});

t.test('what is asked for stays, what nobody asks for goes', async (t) => {
  const cache = new LocalCache(10);
  for (let i = 0; i < 10; i++) cache.put(key(i), i, 1);
  for (let i = 10; i < 200; i++) {
    for (let hot = 0; hot < 5; hot++) cache.find(key(hot));
    cache.put(key(i), i, 1);
  }
  for (let hot = 0; hot < 5; hot++) t.equal(cache.find(key(hot))?.value, hot);
});

t.test('an insertion is short even where everything was asked for', async (t) => {
  const cache = new LocalCache(100_000);
  for (let i = 0; i < 100_000; i++) cache.put(key(i), i, 1);
  for (let i = 0; i < 100_000; i++) cache.find(key(i));
  cache.put(key(-1), 1, 1);
  t.equal(cache.size, 100_000);
  t.equal(cache.find(key(-1))?.value, 1);
});

t.test('an older value does not replace a newer one, a newer one does', async (t) => {
  const cache = new LocalCache(10);
  cache.put('n:a', 1, 5);
  cache.put('n:a', 2, 4);
  t.equal(cache.find('n:a')?.value, 1);
  cache.put('n:a', 3, 6);
  t.equal(cache.find('n:a')?.value, 3);
});

t.test('a change drops what was read before it, and only that', async (t) => {
  const cache = new LocalCache(10);
  cache.put('n:a', 1, 5);
  cache.put('n:b', 1, 6);
  cache.dropOlder('n:a', 6);
  cache.dropOlder('n:b', 6);
  t.equal(cache.find('n:a')?.value, undefined);
  t.equal(cache.find('n:b')?.value, 1);
});

t.test(
  'a fact found by way of another is the one that is held under its name, whatever was dropped meanwhile',
  async (t) => {
    const random = new Random(1);
    const cache = new LocalCache(6);
    const known = new Map<string, number>();
    let [found, missing] = [0, 0];
    for (let i = 0; i < 20_000; i++) {
      const [before, name] = [key(random.below(8)), key(random.below(8))];
      if (random.chance(0.3)) {
        cache.put(name, i, i);
        known.set(name, i);
      } else if (random.chance(0.1)) {
        cache.dropOlder(name, i);
        known.delete(name);
      } else if (random.chance(0.001)) {
        cache.clear();
        known.clear();
      }
      const held = cache.find(before);
      if (held === undefined) continue;
      const value = cache.findAfter(held, name)?.value;
      const direct = cache.find(name)?.value;
      if (value !== direct || (value !== undefined && value !== known.get(name))) {
        return t.fail(`${name} after ${before}: ${JSON.stringify([value, direct, known.get(name)])}`);
      }
      if (value === undefined) missing += 1;
      else found += 1;
    }
    t.ok(found > 5_000 && missing > 1_000, `${found} found, ${missing} missing`);
  },
);
