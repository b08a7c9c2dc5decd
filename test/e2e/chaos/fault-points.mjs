// @ts-check
/**
 * Fault points: calls that this module writes at the start of each function of the built gateway's relay. It is also a
 * loader hook, so the gateway runs as built, and only its text in memory has the points.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const dist = fileURLToPath(new URL('../../../dist/', import.meta.url));

/** Folders and files of `dist` that serve single exchanges. */
const served = [
  /^proxy\//,
  /^http\//,
  /^http1\//,
  /^server\/(listener|client-connection|served-request|served-response|node-lane)\.js$/,
  /^authz\//,
  /^limits\/(shares|concurrency)\.js$/,
  /^ops\/(access-log|request-metrics)\.js$/,
  /^domain\/(round-robin|acting-decision)\.js$/,
];

/**
 * Files with functions that run only at the start of the process or at a reload, or that make responses of the management
 * API, which Fastify guards.
 */
const leftOut = [
  // The net itself: an exception in it is one behind another.
  'http/guarded.js',
  'http/errors.js',
  'http/field-faults.js',
  'http/not-found.js',
  'http/outcome.js',
  'http/router-options.js',
];

/** Functions of the net itself, and two callbacks of Node's reads with nothing but a guarded call. */
const ofTheNet = /^(broke|ignore)$|read-buffers\.js.* (buffer|callback)$/;

/** @param {string} file below `dist`, with slashes */
const isServed = (file) => served.some((part) => part.test(file)) && !leftOut.includes(file);

/**
 * Writes the points into a module.
 *
 * @param {string} file its name in the points' ids
 * @param {string} text JavaScript
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
export function allFaultPoints() {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .map((file) => file.split(sep).join('/'))
    .filter((file) => file.endsWith('.js') && isServed(file))
    .sort()
    .flatMap((file) => withFaultPoints(file, readFileSync(join(dist, file), 'utf8')).ids);
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:')) return nextLoad(url, context);
  const path = fileURLToPath(url);
  const file = relative(dist, path).split(sep).join('/');
  if (!isServed(file)) return nextLoad(url, context);
  const { text } = withFaultPoints(file, readFileSync(path, 'utf8'));
  return { format: 'module', source: text, shortCircuit: true };
}
