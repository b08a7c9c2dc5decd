#!/usr/bin/env node
// @ts-check
/** `npm run check -- docs`: the rules of test/docs/rules in one process, which need no gateway. Prints the broken ones. */
import './lib/node-version.mjs';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { inProject } from './lib/project.mjs';

const rules = readdirSync(inProject('test/docs/rules')).map((file) => `./test/docs/rules/${file}`);
// Static imports: all are loaded before the first runs, or tap would end between two.
const program = rules.map((file) => `import '${file}';`).join('\n');
const { status, stdout, stderr } = spawnSync(
  process.execPath,
  ['--import', './scripts/typescript/register.mjs', '--input-type=module', '--eval', program],
  { cwd: inProject('.'), env: { ...process.env, TAP_TIMEOUT: '0' }, encoding: 'utf8', maxBuffer: 2 ** 26 },
);
if (status !== 0) console.log(stdout.replaceAll(/^ *(?:ok |\d+\.\.|# |TAP |\n).*\n?/gm, ''), stderr);
process.exitCode = status ?? 1;
