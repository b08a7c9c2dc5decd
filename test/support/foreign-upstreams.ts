/** Upstreams in other languages: what the gateway is put before in the real world. Each is there or says what is missing. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Scope } from './servers.ts';

const folder = fileURLToPath(new URL('./foreign/', import.meta.url));

/** Of a test that wants Python: `false`, or why it is not run. */
export const noPython = !runs('python3', '--version') && 'NO PYTHON ON THIS MACHINE: install python3';
/** Of a test that wants Go: `false`, or why it is not run. */
export const noGo = !runs('go', 'version') && 'NO GO ON THIS MACHINE: install Go 1.22 or newer';

/** Python's http.server. It ends with the test. @returns its URL */
export function startPythonUpstream(t: Scope, version: 'HTTP/1.0' | 'HTTP/1.1'): Promise<string> {
  return startProgram(t, 'python3', [join(folder, 'server.py'), version]);
}

/** Go's net/http, built for this. It ends with the test. @returns its URL */
export function startGoUpstream(t: Scope): Promise<string> {
  const built = mkdtempSync(join(tmpdir(), 'tgw-go-'));
  t.teardown(() => rmSync(built, { recursive: true, force: true }));
  const program = join(built, 'upstream');
  const { status, stderr } = spawnSync('go', ['build', '-o', program, join(folder, 'server.go')]);
  if (status !== 0) throw new Error(`go build: ${stderr.toString()}`);
  return startProgram(t, program, []);
}

async function startProgram(t: Scope, program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  return `http://127.0.0.1:${Number(port.toString())}`;
}

function runs(program: string, argument: string): boolean {
  return spawnSync(program, [argument]).status === 0;
}
