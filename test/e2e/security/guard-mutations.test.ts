// class: hostile
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import t from 'tap';
import { guardMutations } from '../../security/guard-mutations.ts';

t.test('every attack of test/security is noticed by its test where its guard is taken away', async (t) => {
  const child = spawn(process.execPath, ['scripts/weakened.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGTERM'));
  let tried = 0;
  // The runner ends a file without a word, and a mutation may take minutes on a busy machine.
  const talk = setInterval(() => t.pass(`${tried} were tried`), 60_000);
  t.teardown(() => clearInterval(talk));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, attack = '', , said = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    if (!guardMutations.some((mutation) => mutation.attack === attack)) continue;
    tried += 1;
    if (said.startsWith('not tried: ')) t.pass(attack, { skip: said });
    else t.not(said, '**NOTHING**', attack);
  }
  t.equal(tried, guardMutations.length);
});
