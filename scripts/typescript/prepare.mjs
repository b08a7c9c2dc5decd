// @ts-check
/**
 * A copy of all sources in JavaScript, which any Node loads without a hook. Lines and columns stay where they are, and
 * `import.meta.url` is that of the source, so that what a module finds beside itself, it finds.
 */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { inProject } from '../lib/project.mjs';

/** Another folder for another way to make the copies, and for sources elsewhere. */
const VERSION = createHash('sha256')
  .update(readFileSync(new URL(import.meta.url)))
  .update(inProject('.'))
  .digest('hex')
  .slice(0, 8);
const COPY = inProject(`.cache/js-${VERSION}`);
const FOLDERS = ['src', 'test', 'bench', 'scripts'];

const IMPORT = /^((?:import|export)\b[^'"`;]*?\bfrom |import |\} from )'(\.[^']+|tap)'/gm;
const DYNAMIC_IMPORT = /\b(import\()'(\.[^']+)'/g;
/** A test file that imports others runs them one after another. */
const IMPORT_OF_TESTS = /\bimport\((new URL\([^;]+\)\.href)\)/g;
const TAP = pathToFileURL(inProject('test/runner/tap-of-file.mjs')).href;

/** Brings all copies up to date, once, before many processes need them at the same time. */
export async function prepareSources() {
  for (const folder of FOLDERS) {
    for (const name of readdirSync(inProject(folder), { recursive: true, encoding: 'utf8' })) {
      if (name.endsWith('.ts') && !name.endsWith('.d.ts')) await copyOf(join(folder, name));
    }
  }
}

/**
 * Makes the JavaScript of one source, unless there is that of the present one.
 * @param {string} source path from the project's root
 * @returns {Promise<string>} where it is
 */
export async function copyOf(source) {
  const file = relative(inProject('.'), resolve(inProject('.'), source));
  const made = join(COPY, file.replace(/\.ts$/, '.js'));
  const { mtime } = statSync(inProject(file));
  if (statSync(made, { throwIfNoEntry: false })?.mtime.getTime() === mtime.getTime()) return made;

  const { default: blankSpace } = await import('ts-blank-space');
  mkdirSync(dirname(made), { recursive: true });
  // Other processes may be reading: a file appears whole or not at all.
  const draft = `${made}.${process.pid}`;
  writeFileSync(draft, inPlaceOf(file, blankSpace(readFileSync(inProject(file), 'utf8'))));
  utimesSync(draft, mtime, mtime);
  renameSync(draft, made);
  return made;
}

/**
 * @param {string} file
 * @param {string} source
 */
function inPlaceOf(file, source) {
  const url = pathToFileURL(inProject(file));
  /** @type {(...match: string[]) => string} */
  const rewrite = (...[, before = '', path = '']) => {
    if (path === 'tap') return `${before}'${TAP}'`;
    return `${before}'${path.endsWith('.ts') ? path.replace(/\.ts$/, '.js') : new URL(path, url).href}'`;
  };
  return source
    .replace(IMPORT, rewrite)
    .replace(DYNAMIC_IMPORT, rewrite)
    .replace(IMPORT_OF_TESTS, `import('${TAP}').then(({ runInTurn }) => runInTurn($1))`)
    .replaceAll('import.meta.url', JSON.stringify(url.href))
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(fileURLToPath(url))));
}
