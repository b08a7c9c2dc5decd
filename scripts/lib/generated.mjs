// @ts-check
/** `src/generated/`, which git ignores: OpenAPI documents, types, the configuration's schema, colours. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alone } from './lock.mjs';
import { inProject } from './project.mjs';
import { runAside } from './run.mjs';
import { during } from './say.mjs';

/** Says which inputs the folder was made from. It is written last, so what was broken off is made again. */
const STAMP = inProject('src/generated/.inputs');
/** Where routes, their schemas and texts, and settings are written down. */
const INPUTS = [
  ...['api', 'authz', 'config', 'domain', 'http', 'limits', 'ports'].map((folder) => `src/${folder}`),
  ...['scripts/generate', 'console/src/style/tokens.css', 'package.json'],
];

/** Makes `src/generated/` if it is missing, or if something that it is made from has changed. */
export async function ensureGenerated() {
  if (isGenerated()) return;
  await alone(async () => {
    if (isGenerated()) return;
    // In a process of its own: `npm start` goes on in this one, and needs nothing of what that loads.
    await during('Generating documents and types', 'Generated', () =>
      runAside(process.execPath, [inProject('scripts/generate.mjs'), '--ignored']),
    );
  });
}

function isGenerated() {
  return existsSync(STAMP) && readFileSync(STAMP, 'utf8') === inputDigest();
}

/**
 * Notes that the folder is made.
 * @param {string} digest of the inputs before that, because they may be edited meanwhile
 */
export function markGenerated(digest) {
  writeIfChanged('src/generated/.inputs', digest);
}

/** Returns the hash of all inputs. Times of files would change with each checkout. */
export function inputDigest() {
  const hash = createHash('sha256');
  for (const path of INPUTS.flatMap(filesBelow))
    hash.update(`${path}\0`).update(readFileSync(inProject(path)));
  return hash.digest('hex');
}

/**
 * Writes a file unless it is so already: builds and the compiler go by its time.
 * @param {string} file
 * @param {string} text
 * @returns {boolean} whether it was otherwise
 */
export function writeIfChanged(file, text) {
  const path = inProject(file);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  writeFileSync(path, text);
  return true;
}

/** @param {string} path @returns {string[]} the files of a folder, sorted, or the file */
function filesBelow(path) {
  if (statSync(inProject(path)).isFile()) return [path];
  return readdirSync(inProject(path))
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}
