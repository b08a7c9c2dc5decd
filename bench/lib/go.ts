import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './files.ts';
import { findTool, tool } from './tools.ts';

/** Programs built here stay for the next run. */
const built = join(root, '.cache/bench/tools');

/** How to get what Go targets need, or `undefined`. */
export function goMissing(): string | undefined {
  return findTool('go') === undefined ? 'Go, from https://go.dev/dl/ or apt-get install golang' : undefined;
}

/** Compiles one file that needs nothing but Go's own packages. @returns the program */
export function buildGo(source: string, name: string): string {
  const program = join(built, name);
  go(['build', '-o', program, source], {});
  return program;
}

/**
 * Compiles a program of others, unless an earlier run did.
 *
 * @param versions tried in turn: the newest may ask for a newer Go than is here
 * @returns the program
 * @throws Error when none of them can be had
 */
export function installGo(pkg: string, name: string, versions: readonly string[]): string {
  const program = join(built, name);
  if (existsSync(program)) return program;
  let last: unknown;
  for (const version of versions) {
    try {
      go(['install', `${pkg}@${version}`], { GOBIN: built });
      return program;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`could not be built with ${goVersion()}: ${lastLine(last)}`);
}

/** Module version and Go of a program that was built from a module, such as `v2.11.9, go1.26.8`. */
export function builtFrom(program: string): string {
  const said = go(['version', '-m', program], {});
  const [, version = 'of unknown version'] = /^\tmod\t\S+\t(\S+)/m.exec(said) ?? [];
  return [version, ...(/go\d\S*/.exec(said) ?? [])].join(', ');
}

/** Such as `go1.26.8`. */
export function goVersion(): string {
  return go(['env', 'GOVERSION'], {}).trim();
}

function go(args: readonly string[], env: Readonly<Record<string, string>>): string {
  mkdirSync(built, { recursive: true });
  // A newer Go than the one that is here is not fetched for this.
  return execFileSync(tool('go'), args, {
    encoding: 'utf8',
    cwd: built,
    env: { ...process.env, GOTOOLCHAIN: 'local', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function lastLine(error: unknown): string {
  const { stderr } = error as { readonly stderr?: unknown };
  return (
    String(stderr ?? error)
      .trim()
      .split('\n')
      .at(-1) ?? ''
  );
}
