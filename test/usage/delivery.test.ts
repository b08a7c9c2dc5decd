// class: pure
import t from 'tap';
import type { AccountId, KeyId } from '../../src/domain/ids.ts';
import { unavailable } from '../../src/coherence/unavailable.ts';
import { deliver, type DeliveryParts } from '../../src/usage/delivery.ts';
import { newRow } from '../../src/usage/journal/batch.ts';
import { PortionSize } from '../../src/usage/portion-size.ts';
import { StoreClock } from '../../src/usage/store-clock.ts';
import { systemClock } from '../../src/ports/clock.ts';

const a = 'a' as AccountId;
const rows = Array.from({ length: 5_000 }, (_, i) =>
  newRow({ accountId: a, parentId: a, keyId: `k${i}` as KeyId }, 0, i),
);
const batch = { journal: 'j', number: 1, rows, throughMs: null };

/** A store that cannot add more than `most` rows in time. */
function slowStore(most: number) {
  const portions: number[] = [];
  let rowsIn = 0;
  const parts: DeliveryParts = {
    clock: new StoreClock(systemClock),
    portion: new PortionSize(),
    keysPerAccountHour: 200,
    logger: { error: () => undefined },
    store: {
      async add({ from, to, rows }) {
        portions.push(rows.length);
        if (rows.length > most) throw unavailable();
        if (from >= rowsIn && to > rowsIn) rowsIn = to;
        return { rowsIn, nowMs: Date.now() };
      },
    },
  };
  return { parts, portions };
}

t.test('a store too busy for a portion gets smaller ones until the batch is added', async (t) => {
  const { parts, portions } = slowStore(600);
  let attempts = 1;
  while (
    !(await deliver(parts, batch).then(
      () => true,
      () => false,
    ))
  )
    attempts += 1;
  t.same(portions.slice(0, 3), [2_000, 1_000, 500], 'each failure halves the portion');
  t.ok(attempts < 10, `${attempts} attempts`);
});

t.test('portions grow again once the store is fast enough, up to the usual number', async (t) => {
  const { parts, portions } = slowStore(600);
  let failures = 0;
  for (let i = 0; i < 10; i++)
    await deliver(parts, { ...batch, number: i + 1 }).catch(() => {
      failures += 1;
      i -= 1;
    });
  t.ok(failures > 1 && failures <= 12, `${failures} of ${portions.length} portions failed`);
  const fast = slowStore(Infinity);
  for (let i = 0; i < 40; i++)
    await deliver({ ...fast.parts, portion: parts.portion }, { ...batch, number: i + 1 });
  t.equal(Math.max(...fast.portions), 2_000);
});
