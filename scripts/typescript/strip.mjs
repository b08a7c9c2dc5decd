// @ts-check
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';

// Loading the compiler takes longer than most test files run, so it is done only for files that changed.
const CACHE = new URL('../../.cache/typescript/', import.meta.url);

/**
 * The JavaScript of a TypeScript file: types become blanks, so that every line and column stays where it is.
 * @param {URL} file
 * @returns {Promise<string>}
 */
export async function withoutTypes(file) {
  const source = await readFile(file, 'utf8');
  const cached = new URL(digest(file.href), CACHE);
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
