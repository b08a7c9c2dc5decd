import { accessSync, constants } from 'node:fs';

/**
 * Flags that keep short-lived objects short-lived: with them the process holds half as much memory, and pauses to collect
 * garbage are a tenth as long (docs/decisions/http-server.md). V8 reads the first only when it starts.
 */
export const v8Flags: readonly string[] = ['--max-semi-space-size=4', '--no-allocation-site-pretenuring'];

/** Returns the flags that neither the command line nor `NODE_OPTIONS` sets, to whatever value. */
export function missingV8Flags(
  execArgv: readonly string[] = process.execArgv,
  nodeOptions = process.env['NODE_OPTIONS'] ?? '',
): readonly string[] {
  const given = new Set([...execArgv, ...nodeOptions.split(/\s+/)].map(nameOf));
  return v8Flags.filter((flag) => !given.has(nameOf(flag)));
}

function nameOf(flag: string): string {
  const [name = ''] = flag.replaceAll('_', '-').split('=');
  return name.replace(/^--(?:no-)?/, '');
}

/**
 * Starts Node.js anew with the missing flags, in place of this process: the same id, the same streams. Call it before
 * anything is loaded or opened. It returns if no flag is missing, if this Node.js cannot replace a process (before 22.15),
 * and if a setting names an open descriptor, which would be closed.
 */
export function restartWithV8Flags(): void {
  const { execve } = process as { readonly execve?: (file: string, args: readonly string[]) => never };
  const missing = missingV8Flags();
  // A parent's channel would be lost.
  if (missing.length === 0 || execve === undefined || process.connected || namesDescriptor()) return;
  const args = [process.argv0, ...missing, ...process.execArgv, ...process.argv.slice(1)];
  try {
    // Node.js aborts if the system refuses.
    accessSync(process.execPath, constants.X_OK);
    execve.call(process, process.execPath, args);
  } catch {
    // Not on this system: it goes on as it is, and the log will say so.
  }
}

function namesDescriptor(): boolean {
  return Object.values(process.env).some((value) => /^\/(?:dev|proc\/self)\/fd\/\d/.test(value ?? ''));
}
