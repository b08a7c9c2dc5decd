// class: pure
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { guardMutations } from './guard-mutations.ts';

t.test('every attack has a guard, which still stands where it is said to', async (t) => {
  const attacks = readdirSync(new URL('.', import.meta.url))
    .filter((name) => name.endsWith('.test.ts') && name !== 'guard-mutations.test.ts')
    .map((name) => name.replace('.test.ts', ''));
  t.same([...new Set(guardMutations.map(({ attack }) => attack))].sort(), attacks.sort());
  for (const { attack, source, guard } of guardMutations) {
    const text = readFileSync(new URL(`../../${source}`, import.meta.url), 'utf8');
    t.equal(text.split(guard).length, 2, `${attack}: ${guard}`);
  }
});
