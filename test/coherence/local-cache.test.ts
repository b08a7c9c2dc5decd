import t from 'tap';
import { LocalCache } from '../../src/coherence/local-cache.ts';
import type { FactKey } from '../../src/ports/facts.ts';

const key = (i: number): FactKey => `n:${i}`;

t.test('it never holds more than it may', async (t) => {
  const cache = new LocalCache(10);
  let most = 0;
  for (let i = 0; i < 1_000; i++) {
    cache.put(key(i), i, 1);
    if (i % 3 === 0) cache.get(key(i - 2));
    most = Math.max(most, cache.size);
  }
  t.equal(most, 10);
});

t.test('what is asked for stays, what nobody asks for goes', async (t) => {
  const cache = new LocalCache(10);
  for (let i = 0; i < 10; i++) cache.put(key(i), i, 1);
  for (let i = 10; i < 200; i++) {
    for (let hot = 0; hot < 5; hot++) cache.get(key(hot));
    cache.put(key(i), i, 1);
  }
  for (let hot = 0; hot < 5; hot++) t.equal(cache.get(key(hot)), hot);
});

t.test('an insertion is short even where everything was asked for', async (t) => {
  const cache = new LocalCache(100_000);
  for (let i = 0; i < 100_000; i++) cache.put(key(i), i, 1);
  for (let i = 0; i < 100_000; i++) cache.get(key(i));
  cache.put(key(-1), 1, 1);
  t.equal(cache.size, 100_000);
  t.equal(cache.get(key(-1)), 1);
});

t.test('an older value does not replace a newer one, a newer one does', async (t) => {
  const cache = new LocalCache(10);
  cache.put('n:a', 1, 5);
  cache.put('n:a', 2, 4);
  t.equal(cache.get('n:a'), 1);
  cache.put('n:a', 3, 6);
  t.equal(cache.get('n:a'), 3);
});

t.test('a change drops what was read before it, and only that', async (t) => {
  const cache = new LocalCache(10);
  cache.put('n:a', 1, 5);
  cache.put('n:b', 1, 6);
  cache.dropOlder('n:a', 6);
  cache.dropOlder('n:b', 6);
  t.equal(cache.get('n:a'), undefined);
  t.equal(cache.get('n:b'), 1);
});
