#!/usr/bin/env node
// @ts-check
/**
 * `npm run stress -- FILES`: runs test files 20 times (`--times N`) beside load on every core. What ran is kept with the
 * commit in .cache/stress, so that the same command goes on where it was interrupted. Fails if a run failed.
 */
import './lib/node-version.mjs';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Kept } from './lib/kept.mjs';
import { say } from './lib/say.mjs';
import { inProject } from './lib/project.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '20' } },
});
const name = createHash('sha256').update(positionals.join('\n')).digest('hex').slice(0, 12);
const kept = new Kept(`stress/${name}`);
const burners = Array.from({ length: availableParallelism() }, () =>
  spawn(
    process.execPath,
    [
      '-e',
      'process.stdin.resume().once("close", () => process.exit()); setInterval(() => { for (const end = Date.now() + 95; Date.now() < end; ); }, 1)',
    ],
    {
      stdio: ['pipe', 'ignore', 'ignore'],
    },
  ),
);
let failed = 0;
for (let run = 1; run <= Number(values.times); run++) {
  let passed = kept.get(`run ${run}`);
  if (passed === undefined) {
    const test = spawnSync(process.execPath, [inProject('scripts/test.mjs'), ...positionals], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 2 ** 28,
    });
    if (test.signal !== null || test.status === 130) process.exit(1);
    passed = test.status === 0;
    kept.set(`run ${run}`, passed);
    if (!passed) console.log(test.stdout);
  }
  if (!passed) failed += 1;
  say(`run ${run} of ${values.times}: ${passed ? 'passed' : 'FAILED'}`);
}
for (const burner of burners) burner.kill();
say(`${failed} of ${values.times} runs failed: ${positionals.join(' ')}`);
process.exitCode = failed === 0 ? 0 : 1;
