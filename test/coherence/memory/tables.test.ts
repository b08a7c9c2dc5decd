// class: pure
import { createHash } from 'node:crypto';
import t from 'tap';
import { DigestTable, makeEntry, type Entry } from '../../../src/coherence/memory/tables.ts';
import { Random } from '../../support/coherence/random.ts';

const digests = Array.from({ length: 5_000 }, (_, i) =>
  createHash('sha256').update(`${i}`).digest('base64url'),
);

function held(name: string): Entry {
  return makeEntry(name);
}

for (const [what, places, most] of [
  ['whatever the digests', undefined, 5_000],
  ['where many digests meet in one place', [0, 0, 0, 0, 0], 1_500],
  ['where all of them meet, around the end of the table', [43, 43, 43, 43, 43], 300],
] as const) {
  t.test(`it holds what a map would hold, ${what}`, async (t) => {
    const random = new Random(7);
    const table = new DigestTable(places);
    const model = new Map<string, Entry>();
    for (let step = 0; step < 20_000; step++) {
      const name = digests[random.below(most)] as string;
      const present = model.get(name);
      if (table.get(name) !== present) return t.fail(`step ${step}: not what was put there`);
      // Grows for a while, then shrinks.
      const grows = random.chance(step % 10_000 < 5_000 ? 0.7 : 0.3);
      if (present === undefined && grows) {
        const made = held(name);
        table.add(made);
        model.set(name, made);
      } else if (present !== undefined && !grows) {
        table.delete(present);
        model.delete(name);
      }
    }
    for (const name of digests.slice(0, most)) if (table.get(name) !== model.get(name)) t.fail(name);
    t.same(new Set(table.all()), new Set(model.values()));
    t.equal(table.size, model.size);
    t.ok(model.size > 50, `${model.size} held at the end`);
    for (const entry of model.values()) table.delete(entry);
    t.equal(table.size, 0);
    t.equal(table.turn(), undefined);
  });
}

t.test('its hand comes by everything once a round', async (t) => {
  const table = new DigestTable();
  for (const name of digests) table.add(held(name));
  const round = Array.from(digests, () => table.turn()?.name);
  t.equal(new Set(round).size, digests.length);
  t.equal(table.turn()?.name, round[0]);
});

t.test('to drop what is not in it changes nothing', async (t) => {
  const table = new DigestTable();
  for (const name of digests.slice(1)) table.add(held(name));
  table.delete(held(digests[0] as string));
  table.delete(held(digests[1] as string));
  t.equal(table.size, digests.length - 1);
  t.equal(table.get(digests[1] as string)?.name, digests[1]);
});

t.test('which characters make the mark differs from table to table', async (t) => {
  const layout = (table: DigestTable): string => {
    for (const name of digests.slice(0, 200)) table.add(held(name));
    return Array.from(table.all(), ({ name }) => name).join();
  };
  t.equal(new Set([1, 2, 3, 4].map(() => layout(new DigestTable()))).size, 4);
});
