// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { inProject } from './project.mjs';

/** The commit of the work tree, and whether anything in it is not committed. */
export function commit() {
  const git = (/** @type {string[]} */ args) =>
    spawnSync('git', args, { cwd: inProject('.'), encoding: 'utf8' }).stdout.trim();
  return {
    id: git(['rev-parse', '--short=12', 'HEAD']),
    clean: git(['status', '--porcelain', '--', '.', ':!nightly.log']) === '',
  };
}

/** Values of a long run at one commit, so that it goes on where it was interrupted; in `.cache`. Changes that are not committed keep nothing. */
export class Kept {
  #file;
  /** @type {Record<string, any>} */
  #values = {};

  #keeps;

  /** @param {string} name of the run */
  constructor(name) {
    const { id, clean } = commit();
    this.#keeps = clean;
    this.#file = inProject(`.cache/${name}-${id}.json`);
    if (clean && existsSync(this.#file)) this.#values = JSON.parse(readFileSync(this.#file, 'utf8'));
  }

  /** @param {string} key */
  get(key) {
    return this.#values[key];
  }

  /**
   * @param {string} key
   * @param {unknown} value
   */
  set(key, value) {
    this.#values[key] = value;
    if (!this.#keeps) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(this.#values));
  }
}
