/** The built gateway and its command line as processes of their own: what people start, seen from outside. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { v8Flags } from '../../src/wiring/v8-flags.ts';
import { eventually } from './eventually.ts';
import type { Scope } from './servers.ts';
import { unusedPort } from '../servers/unused-port.mjs';
import { usageFolder } from './usage-folder.ts';

export const dist = fileURLToPath(new URL('../../dist/', import.meta.url));

/** A process whose output is kept. */
class Program {
  /** Both streams as they came. */
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(
    script: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    folder = dist,
    stdin: 'ignore' | 'pipe' = 'ignore',
    below: readonly string[] = [],
  ) {
    // Nothing of the runner's own environment: a variable of the machine must not configure the program under test.
    const base = { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', USAGE_JOURNAL_DIR: usageFolder() };
    const flags = script === 'main.js' ? v8Flags : [];
    const [command = '', ...rest] = [...below, process.execPath, ...flags, join(folder, script), ...args];
    this.child = spawn(command, rest, {
      env: { ...base, ...env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.#ended = once(this.child, 'close').then(([code]) => code as number | null);
  }

  /** The exit code, once it has ended; `null` where a signal ended it. */
  ended(): Promise<number | null> {
    return this.#ended;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Lines of the log. */
  log(): Readonly<Record<string, unknown>>[] {
    return this.stdout
      .split('\n')
      .filter((line) => line.startsWith('{"'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Waits for something in its output; fails where it ends without it. */
  async prints(pattern: RegExp): Promise<void> {
    await eventually(() => {
      if (pattern.test(this.stdout)) return true;
      if (this.running) return false;
      throw new Error(`it ended without printing ${pattern.source}:\n${this.stdout}\n${this.stderr}`);
    });
  }

  async kill(signal: NodeJS.Signals): Promise<number | null> {
    this.child.kill(signal);
    return this.#ended;
  }
}

/** A gateway process and where it listens. */
export interface GatewayProcess {
  readonly program: Program;
  readonly url: string;
  readonly internalUrl: string;
}

/**
 * Starts `dist/main.js` on free ports, to be killed with the test at the latest.
 *
 * @param folder where another version was built
 * @param below command that becomes the program, such as `env`
 */
export async function startProcess(
  t: Scope,
  env: Readonly<Record<string, string>>,
  folder?: string,
  below?: readonly string[],
): Promise<GatewayProcess & { readonly env: Readonly<Record<string, string>> }> {
  const [port, internalPort] = [await unusedPort(), await unusedPort()];
  const all = { PORT: String(port), INTERNAL_PORT: String(internalPort), ...env };
  const program = new Program('main.js', [], all, folder, 'ignore', below);
  t.teardown(() => program.kill('SIGKILL'));
  return {
    program,
    env: all,
    url: `http://127.0.0.1:${all.PORT}`,
    internalUrl: `http://127.0.0.1:${all.INTERNAL_PORT}`,
  };
}

/** Runs `dist/cli.js` to its end. */
export async function cli(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  return cliFrom('', env, ...args);
}

/** Runs `dist/cli.js` to its end, with `input` on its standard input. */
export async function cliFrom(
  input: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const program = new Program('cli.js', args, env, dist, 'pipe');
  program.child.stdin?.end(input);
  const code = await program.ended();
  return { code, stdout: program.stdout, stderr: program.stderr };
}

/** Starts `dist/cli.js`, to be killed with the test at the latest. */
export function startCli(
  t: Scope,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Program {
  const program = new Program('cli.js', args, env);
  t.teardown(() => program.kill('SIGKILL'));
  return program;
}

/** A folder that goes away with the test. */
export function tempFolder(t: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), 'tgw-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What `/readyz` says: its status, and the reasons where there are any. */
export async function readiness(internalUrl: string): Promise<{ status: number; reasons: string[] } | null> {
  const response = await fetch(`${internalUrl}/readyz`).catch(() => null);
  if (response === null) return null;
  const body = (await response.json()) as { reasons?: { reason: string }[] };
  return { status: response.status, reasons: (body.reasons ?? []).map(({ reason }) => reason) };
}

/** Waits until `/readyz` responds with `status`, with `reason` among its reasons where one is given. */
export async function becomes(internalUrl: string, status: number, reason?: string): Promise<void> {
  await eventually(
    async () => {
      const now = await readiness(internalUrl);
      return now?.status === status && (reason === undefined || now.reasons.includes(reason));
    },
    { everyMs: 25 },
  );
}
