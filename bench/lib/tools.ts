import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is; Debian keeps servers in sbin, which is not in every PATH. */
export function findTool(name: string): string | undefined {
  const dirs = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return dirs.map((dir) => join(dir, name)).find((path) => existsSync(path));
}

/** The program's path, for one that is known to be there. */
export function tool(name: string): string {
  const path = findTool(name);
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}

/** First line of what a program says about its version. Some say it on standard error, some with a failing code. */
export function versionOf(name: string, ...args: string[]): string {
  try {
    return firstLine(execFileSync('sh', ['-c', '"$0" "$@" 2>&1', tool(name), ...args], { encoding: 'utf8' }));
  } catch (error) {
    return firstLine(String((error as { stdout?: unknown }).stdout ?? error));
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
