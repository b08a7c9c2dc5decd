// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inProject } from '../lib/project.mjs';

const SCHEMA = 'src/adapters/postgres/schema';
/** Names of the two generated steps; their numbers say where they are in the order of the unreleased steps. */
const NEW = 'new_functions';
const REPLACED = 'replaced_functions';

/**
 * A function as a file has it.
 * @typedef {{ identity: string, head: string, statement: string, file: string }} SqlFunction
 */

/**
 * The steps that bring the functions of a released schema to those of `schema/functions/`: first those that are new, which
 * nothing calls yet, so that triggers can be made of them; then, after those triggers, those in the place of a released one.
 */
export function functionSteps() {
  const released = releasedFunctions();
  const present = new Map(presentFunctions().map((one) => [one.identity, one]));
  const differing = [...present.values()].filter(
    ({ identity, statement }) => released.get(identity)?.statement !== statement,
  );
  const [fresh, replaced] = [false, true].map((was) =>
    differing.filter(({ identity }) => released.has(identity) === was),
  );
  // Another result, or arguments by other names: PostgreSQL does not replace such a function.
  const dropped = [...released.values()].filter(
    ({ identity, head }) => (present.get(identity)?.head ?? null) !== head,
  );
  const steps = [
    { file: stepFile(NEW), text: step('that are new', fresh ?? []) },
    { file: stepFile(REPLACED), text: step('in the place of released ones', replaced ?? [], dropped) },
  ];
  return steps.filter(({ text }) => / function /.test(text));
}

/**
 * @param {string} which
 * @param {readonly SqlFunction[]} functions
 * @param {readonly SqlFunction[]} dropped
 */
function step(which, functions, dropped = []) {
  return [
    `-- compatible with: ${oldestCompatible()}`,
    `-- Functions ${which}. Written by \`npm run generate\` from schema/functions/.`,
    '',
    '-- They stand in the order of their names, and call each other.',
    'set local check_function_bodies = off;',
    '',
    ...dropped.map(({ identity }) => `drop function ${identity};`),
    ...functions.flatMap(({ file, statement }) => ['', `-- ${file}`, statement]),
    '',
  ].join('\n');
}

/** The oldest version whose code works after the newest released step: replacing functions changes nothing about that. */
function oldestCompatible() {
  const text = readText(`${SCHEMA}/steps/${releasedSteps().at(-1)}`);
  return /^-- compatible with: (\d+)$/m.exec(text)?.[1];
}

/** @returns {Map<string, SqlFunction>} what the newest released step leaves, by identity */
function releasedFunctions() {
  const functions = new Map();
  for (const file of releasedSteps()) {
    const text = readText(`${SCHEMA}/steps/${file}`);
    for (const [, identity] of text.matchAll(/^drop function (\S[^;]*);$/gm)) functions.delete(identity);
    for (const one of functionsIn(text, file)) functions.set(one.identity, one);
  }
  return functions;
}

/** @returns {SqlFunction[]} in the order of folders and names */
function presentFunctions() {
  const folder = `${SCHEMA}/functions`;
  const files = readdirSync(inProject(folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .sort();
  return files.map((file) => {
    const [one, ...more] = functionsIn(readText(join(folder, file)), file);
    if (one === undefined || more.length > 0 || !one.identity.startsWith(`${basename(file, '.sql')}(`))
      throw new Error(`${folder}/${file} must hold one function, which it is named after.`);
    return one;
  });
}

/**
 * @param {string} text
 * @param {string} file
 * @returns {SqlFunction[]}
 */
function functionsIn(text, file) {
  const statements = text.matchAll(
    /^create (?:or replace )?function (?<name>\w+)\((?<args>[^]*?)\)\s+(?:returns [^]*?\s)?language [^]*?\bas (?<quote>\$\w*\$|')[^]*?\k<quote>;$/gm,
  );
  return [...statements].map(([statement, name = '', args = '']) => ({
    identity: `${name}(${argumentTypes(args).join(', ')})`,
    head: (statement.split(/\blanguage\b/)[0] ?? '').replace(/create (or replace )?|\s+/g, ' '),
    statement: statement.replace(/^create (or replace )?/, 'create or replace '),
    file,
  }));
}

/**
 * Types of the arguments that a call gives.
 * @param {string} args as declared: `name type default value`, or `out name type`
 */
function argumentTypes(args) {
  return args
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('out '))
    .map((one) => one.replace(/ default .*$/, '').replace(/^\w+ /, ''));
}

/** @param {string} name */
function stepFile(name) {
  const folder = `${SCHEMA}/steps`;
  const steps = readdirSync(inProject(folder)).sort();
  const released = releasedSteps();
  const found = steps.find((file) => file.endsWith(`_${name}.sql`) && !released.includes(file));
  const next = String(steps.length + (name === NEW ? 1 : 2)).padStart(4, '0');
  return `${folder}/${found ?? `${next}_${name}.sql`}`;
}

/** @returns {string[]} file names, in order */
function releasedSteps() {
  return Object.keys(JSON.parse(readText(`${SCHEMA}/released.json`)));
}

/** @param {string} file */
function readText(file) {
  return readFileSync(inProject(file), 'utf8');
}
