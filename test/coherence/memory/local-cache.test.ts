// class: pure
import t, { type Test } from 'tap';
import { createHash } from 'node:crypto';
import {
  DigestTable,
  findAfter,
  findIn,
  NameTable,
  type Table,
} from '../../../src/coherence/memory/tables.ts';
import { LocalCache } from '../../../src/coherence/memory/local-cache.ts';
import { Random } from '../../support/coherence/random.ts';

const digest = (i: number): string => createHash('sha256').update(`${i}`).digest('base64url');

void t.test('names', (t) =>
  cacheTests(
    t,
    () => new NameTable(),
    (i) => `n:${i}`,
  ),
);
void t.test('digests', (t) => cacheTests(t, () => new DigestTable(), digest));

/** A cache that holds so many. */
function cacheOf(capacity: number, table: Table): LocalCache {
  const cache: LocalCache = new LocalCache(table, () => {
    if (cache.size >= capacity) cache.dropOne();
  });
  return cache;
}

async function cacheTests(t: Test, makeTable: () => Table, key: (i: number) => string): Promise<void> {
  await t.test('it never holds more than it may', async (t) => {
    const cache = cacheOf(10, makeTable());
    let most = 0;
    for (let i = 0; i < 1_000; i++) {
      cache.put(key(i), i, 1, 0);
      if (i % 3 === 0) findIn(cache.table, key(i - 2));
      most = Math.max(most, cache.size);
    }
    t.equal(most, 10);
  });

  await t.test('what is asked for stays, what is not goes', async (t) => {
    const cache = cacheOf(10, makeTable());
    for (let i = 0; i < 10; i++) cache.put(key(i), i, 1, 0);
    for (let i = 10; i < 200; i++) {
      for (let hot = 0; hot < 5; hot++) findIn(cache.table, key(hot));
      cache.put(key(i), i, 1, 0);
    }
    for (let hot = 0; hot < 5; hot++) t.equal(findIn(cache.table, key(hot))?.value, hot);
  });

  await t.test('an insertion is short even where everything was asked for', async (t) => {
    const cache = cacheOf(100_000, makeTable());
    for (let i = 0; i < 100_000; i++) cache.put(key(i), i, 1, 0);
    for (let i = 0; i < 100_000; i++) findIn(cache.table, key(i));
    cache.put(key(-1), 1, 1, 0);
    t.equal(cache.size, 100_000);
    t.equal(findIn(cache.table, key(-1))?.value, 1);
  });

  await t.test('an older value does not replace a newer one, a newer one does', async (t) => {
    const cache = cacheOf(10, makeTable());
    cache.put(key(-1), 1, 5, 0);
    cache.put(key(-1), 2, 4, 0);
    t.equal(findIn(cache.table, key(-1))?.value, 1);
    cache.put(key(-1), 3, 6, 0);
    t.equal(findIn(cache.table, key(-1))?.value, 3);
  });

  await t.test('a change drops what was read before it, and only that', async (t) => {
    const cache = cacheOf(10, makeTable());
    cache.put(key(-1), 1, 5, 0);
    cache.put(key(-2), 1, 6, 0);
    cache.dropOlder(key(-1), 6);
    cache.dropOlder(key(-2), 6);
    t.equal(findIn(cache.table, key(-1))?.value, undefined);
    t.equal(findIn(cache.table, key(-2))?.value, 1);
  });

  await t.test(
    'a fact found by way of another is the one that is held under its name, whatever was dropped meanwhile',
    async (t) => {
      const random = new Random(1);
      const cache = cacheOf(6, makeTable());
      const known = new Map<string, number>();
      let [found, missing] = [0, 0];
      for (let i = 0; i < 20_000; i++) {
        const [before, name] = [key(random.below(8)), key(random.below(8))];
        if (random.chance(0.3)) {
          cache.put(name, i, i, 0);
          known.set(name, i);
        } else if (random.chance(0.1)) {
          cache.dropOlder(name, i);
          known.delete(name);
        } else if (random.chance(0.001)) {
          cache.unprove();
          known.clear();
        }
        const held = findIn(cache.table, before);
        if (held === undefined) continue;
        const value = findAfter(cache.table, held, name)?.value;
        const direct = findIn(cache.table, name)?.value;
        if (value !== direct || (value !== undefined && value !== known.get(name))) {
          return t.fail(`${name} after ${before}: ${JSON.stringify([value, direct, known.get(name)])}`);
        }
        if (value === undefined) missing += 1;
        else found += 1;
      }
      t.ok(found > 5_000 && missing > 1_000, `${found} found, ${missing} missing`);
    },
  );
}
