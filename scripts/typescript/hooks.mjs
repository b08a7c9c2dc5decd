// @ts-check
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';

// Loading the compiler takes longer than most test files run, so it is done only for files that changed.
const CACHE = new URL('../../.cache/typescript/', import.meta.url);

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !new URL(url).pathname.endsWith('.ts')) return next(url, context);
  const source = await readFile(new URL(url), 'utf8');
  return { format: 'module', source: await withoutTypes(url, source), shortCircuit: true };
}

/**
 * @param {string} url
 * @param {string} source
 */
async function withoutTypes(url, source) {
  const cached = new URL(digest(url), CACHE);
  const mark = `//${digest(source)}`;
  const known = await readFile(cached, 'utf8').catch(() => '');
  if (known.endsWith(mark)) return known;

  const { default: blankSpace } = await import('ts-blank-space');
  const made = `${blankSpace(source)}\n${mark}`;
  await mkdir(CACHE, { recursive: true });
  // Other processes may be reading: a file appears whole or not at all.
  const draft = new URL(`${cached.href}.${process.pid}`);
  await writeFile(draft, made);
  await rename(draft, cached);
  return made;
}

/** @param {string} text */
function digest(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
