/** Servers in Python, as tests put them behind the gateway. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Scope } from './servers.ts';

/** A Python that can import `module`: the one that `TEST_PYTHON` names, scripts/ci-tools.sh's, or `python3`. */
export function pythonWith(module: string): string | undefined {
  return [process.env['TEST_PYTHON'] ?? '', resolve('.cache/tools/proxies/bin/python3'), 'python3'].find(
    (python) => python !== '' && spawnSync(python, ['-c', `import ${module}`]).status === 0,
  );
}

/** What the report says where a test of such a server cannot run. */
export function withoutPython(module: string, untried: string): string {
  return `NO ${module.toUpperCase()} ON THIS MACHINE: ${untried}. Wanted: python3 -m pip install ${module}, or TEST_PYTHON=<a Python that has it>`;
}

/** Starts gunicorn with its defaults. @param app source of a module with a WSGI application `app` */
export async function startGunicorn(t: Scope, python: string, app: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gunicorn-'));
  writeFileSync(join(folder, 'service.py'), app);
  const socket = join(folder, 'socket');
  const child = spawn(
    python,
    ['-m', 'gunicorn', '--log-level', 'error', '-b', `unix:${socket}`, 'service:app'],
    {
      cwd: folder,
      stdio: 'inherit',
    },
  );
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
  });
  while (!existsSync(socket)) {
    if (child.exitCode !== null) throw new Error(`gunicorn ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return `unix:${socket}`;
}
