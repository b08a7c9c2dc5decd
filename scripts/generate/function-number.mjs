// @ts-check
import { readFileSync } from 'node:fs';
import { readFunctions, sha256 } from '../../src/adapters/postgres/schema/files.ts';
import { inProject } from '../lib/project.mjs';

const FILE = 'src/adapters/postgres/schema/functions.json';

/** The number of the database's functions, which rises with each change of their text, and the text's SHA-256. */
export async function functionNumber() {
  const { number, checksum: before } = JSON.parse(readFileSync(inProject(FILE), 'utf8'));
  const checksum = sha256(await readFunctions());
  return { file: FILE, value: { number: checksum === before ? number : number + 1, checksum } };
}
