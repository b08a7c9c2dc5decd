import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { root } from './lib/files.ts';

/** A build of the gateway. Only its program and the variables of its environment are relied on, not its sources. */
export interface Build {
  /** Its `main.js`. */
  readonly program: string;
  /** What it was built from, for people. */
  readonly title: string;
}

/**
 * Builds the gateway as it was or is elsewhere.
 *
 * @param against a `main.js` that has been built, a folder with a checkout, or a revision git knows here
 * @param dir not yet existing folder for a checkout; goes away with the run
 * @throws Error when it is none of these, or does not build
 */
export function buildAgainst(against: string, dir: string): Build {
  const path = resolve(against);
  if (existsSync(path) && statSync(path).isFile()) return { program: path, title: against };
  if (existsSync(join(path, 'package.json')))
    return built(path, `${basename(path)} ${describe(path)}`.trim());
  const commit = git(root, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${against}^{commit}`);
  if (commit === undefined) throw new Error(`--against: ${against} is no file, no checkout and no revision`);
  checkOut(commit, dir);
  return built(dir, git(root, 'log', '-1', '--format=%h %s', commit) ?? commit);
}

/** The build that `npm run bench` has just made of these sources. */
export function buildHere(): Build {
  return { program: join(root, 'dist/main.js'), title: `this tree ${describe(root)}`.trim() };
}

/** The files of a commit, without registering a worktree that an interrupted run would leave behind. */
function checkOut(commit: string, dir: string): void {
  mkdirSync(dir);
  run('sh', ['-c', 'git -C "$0" archive "$1" | tar -x -C "$2"', root, commit, dir], root);
  const lock = 'package-lock.json';
  if (readFileSync(join(dir, lock), 'utf8') === readFileSync(join(root, lock), 'utf8')) {
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  } else {
    run('npm', ['ci', '--include=dev', '--loglevel=error'], dir);
  }
}

function built(dir: string, title: string): Build {
  run('npm', ['run', '--silent', 'build'], dir);
  return { program: join(dir, 'dist/main.js'), title };
}

function describe(dir: string): string {
  return git(dir, 'describe', '--always', '--dirty', '--abbrev=7') ?? '';
}

/** What git prints, or `undefined` where it fails or is not there. */
function git(dir: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', ['-C', dir, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
}
