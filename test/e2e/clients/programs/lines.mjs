// @ts-check
/** What every client on Node here shares: requests come in as lines of standard input, answers go out as lines. */
import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const PIECE = 16_384;

/**
 * A package of the folder this runs in, or of the project.
 * @param {string} name
 */
export function packageNamed(name) {
  return import(pathToFileURL(createRequire(join(process.cwd(), 'here.js')).resolve(name)).href);
}

/**
 * Answers line by line.
 * @param {(columns: string[]) => Promise<(string | number)[]>} answer the columns behind the id
 */
export async function serve(answer) {
  for await (const line of createInterface({ input: process.stdin })) {
    const [id = '', ...columns] = line.split('\t');
    const said = await answer(columns).catch((error) => ['error', encoded(explained(error))]);
    process.stdout.write(`${[id, ...said].join('\t')}\n`);
  }
}

/**
 * A request, from the columns of its line.
 * @param {string[]} columns method, URL, body, then names and values of headers
 */
export function requestOf([method = '', url = '', body = '', ...headers]) {
  const [kind = '', value = ''] = body.split(':');
  return {
    method,
    url,
    headers: pairs(headers),
    /** Known in length, or `undefined`. */
    whole:
      kind === 'text'
        ? Buffer.from(value, 'base64')
        : kind === 'sized'
          ? Buffer.alloc(Number(value), 'x')
          : undefined,
    /** Of unknown length, or `undefined`. */
    pieces: kind === 'chunked' ? pieces(Number(value)) : undefined,
  };
}

/** @param {string[]} columns names and values */
export function pairs(columns) {
  return Object.fromEntries(
    columns.flatMap((name, i) => (i % 2 === 0 ? [[name, columns[i + 1] ?? '']] : [])),
  );
}

/**
 * @param {number} status
 * @param {Iterable<[string, unknown]>} headers
 * @param {string | Uint8Array | ArrayBuffer} body
 */
export function answered(status, headers, body) {
  const lines = Array.from(headers, ([name, value]) => `${name}: ${String(value)}`);
  return [status, encoded(lines.join('\n')), encoded(body)];
}

/** @param {string | Uint8Array | ArrayBuffer} data */
export function encoded(data) {
  return Buffer.from(/** @type {string} */ (data)).toString('base64');
}

/** @param {number} length */
async function* pieces(length) {
  for (let left = length; left > 0; left -= PIECE) yield Buffer.alloc(Math.min(PIECE, left), 'x');
}

/**
 * With its causes: fetch says no more than that it failed.
 * @param {unknown} error
 * @returns {string}
 */
function explained(error) {
  const { message, code, cause } = /** @type {Error & { code?: string }} */ (error);
  return [message, code, cause && explained(cause)].filter(Boolean).join(': ');
}
