// @ts-check
/**
 * Fault points: calls that this module writes at the start of each function of the gateway's relay. It is also a
 * loader hook: the gateway runs from its sources, because a build is a few bundles, and only its text in memory has the points.
 */
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import { withoutTypes } from '../../../scripts/typescript/strip.mjs';

const src = fileURLToPath(new URL('../../../src/', import.meta.url));

/** Folders and files of `src` that serve single exchanges. */
const served = [
  /^proxy\//,
  /^http\//,
  /^http1\//,
  /^server\/(listener|client-connection|served-request|served-response|node-lane)\.ts$/,
  /^authz\//,
  /^limits\/(shares|concurrency)\.ts$/,
  /^ops\/(access-log|request-metrics)\.ts$/,
  /^domain\/(round-robin|acting-decision)\.ts$/,
];

/**
 * Files with functions that run only at the start of the process or at a reload, or that make responses of the management
 * API, which Fastify guards.
 */
const leftOut = [
  // The net itself: an exception in it is one behind another.
  'http/guarded.ts',
  'http/errors.ts',
  'http/field-faults.ts',
  'http/not-found.ts',
  'http/outcome.ts',
  'http/router-options.ts',
];

/**
 * Functions of the net itself, two callbacks of Node's reads with nothing but a guarded call, and those of turns, which set
 * numbers and make guarded calls, or measure them for shedding.
 */
const ofTheNet = /^(broke|ignore)$|turn\.ts.* (startTurn|read)$|read-buffers\.ts.* (buffer|callback)$/;

/** @param {string} file below `src`, with slashes */
const isServed = (file) => served.some((part) => part.test(file)) && !leftOut.includes(file);

/**
 * Writes the points into a module.
 *
 * @param {string} file its name in the points' ids
 * @param {string} text without types
 * @returns {{ text: string, ids: string[] }}
 */
export function withFaultPoints(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {{ at: number, text: string }[]} */
  const pieces = [];
  /** @type {string[]} */
  const ids = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const body =
      ts.isFunctionLike(node) && 'body' in node ? /** @type {ts.Node | undefined} */ (node.body) : undefined;
    if (body !== undefined && !ofTheNet.test(nameOf(node)) && !ofTheNet.test(`${file} ${nameOf(node)}`)) {
      const { line, character } = source.getLineAndCharacterOfPosition(node.getStart());
      const id = `${file}:${line + 1}:${character + 1} ${nameOf(node)}`;
      ids.push(id);
      const call = `__faultPoint(${JSON.stringify(id)})`;
      if (ts.isBlock(body)) pieces.push({ at: startOf(body) + 1, text: `${call};` });
      else pieces.push({ at: body.getStart(), text: `(${call},` }, { at: body.getEnd(), text: ')' });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let made = '';
  let from = 0;
  // Of two pieces at one place, the one that was found first belongs to the outer function; closing ones are alike.
  for (const piece of pieces.sort((a, b) => a.at - b.at)) {
    made += text.slice(from, piece.at) + piece.text;
    from = piece.at;
  }
  return { text: made + text.slice(from), ids };
}

/** Position of the brace: of a function that is one `try`, the inner one. @param {ts.Block} body */
function startOf(body) {
  const [first] = body.statements;
  return first !== undefined && ts.isTryStatement(first) ? first.tryBlock.getStart() : body.getStart();
}

/** @param {ts.Node} node */
function nameOf(node) {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const named = 'name' in node && node.name !== undefined ? node : node.parent;
  const name = 'name' in named ? /** @type {ts.Node | undefined} */ (named.name) : undefined;
  return name?.getText() ?? 'function';
}

/** Ids of all points. */
export async function allFaultPoints() {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.ts') && isServed(file))
    .sort();
  const ids = [];
  for (const file of files)
    ids.push(...withFaultPoints(file, await withoutTypes(pathToFileURL(join(src, file)))).ids);
  return ids;
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:')) return nextLoad(url, context);
  const file = relative(src, fileURLToPath(url)).split(sep).join('/');
  if (!isServed(file)) return nextLoad(url, context);
  const { text } = withFaultPoints(file, await withoutTypes(new URL(url)));
  return { format: 'module', source: text, shortCircuit: true };
}
