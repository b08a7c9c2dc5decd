import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { cellsOf, guardMutations } from '../../security/guard-mutations.ts';

/** Takes guards away with `npm run weakened`, and expects each test to say what docs/maintainers/attacks.md says. Resolves to how many. */
export async function missesGuards(t: Test, ...args: string[]): Promise<number> {
  const child = spawn(process.execPath, ['scripts/weakened.mjs', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGTERM'));
  let tried = 0;
  // The runner ends a file without a word, and a mutation may take minutes on a busy machine.
  const talk = setInterval(() => t.pass(`${tried} were tried`), 60_000);
  t.teardown(() => clearInterval(talk));
  for await (const line of createInterface({ input: child.stdout })) {
    const [, attack = '', , said = '', other = ''] = cellsOf(line);
    if (!guardMutations.some((mutation) => mutation.attack === attack)) continue;
    tried += 1;
    if (said.startsWith('not tried: ')) t.pass(attack, { skip: said });
    else t.equal(other, '', `${attack}: ${said}`);
  }
  return tried;
}
