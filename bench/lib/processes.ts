import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** How to start one process of a measurement. */
export interface Launch {
  /** Names its log file, `<name>.log` in the run's folder. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The only core it may run on, with all its threads. */
  readonly core: number;
  readonly env?: Readonly<Record<string, string>>;
  /** `log` keeps the output out of the way; `pipe` hands it over. */
  readonly output?: 'log' | 'pipe';
}

const stopLimitMs = 5_000;
const firstNiceness = -10;

/**
 * Every process a run has started. `setpriv` makes the kernel end them with the harness, even after a SIGKILL of
 * the harness; `taskset` pins them. Both execute the command in their own place, so its pid is the one known here.
 */
export class Processes {
  readonly #dir: string;
  readonly #running = new Set<Process>();

  /** @param dir where logs go */
  constructor(dir: string) {
    this.#dir = dir;
  }

  start(launch: Launch): Process {
    const log = join(this.#dir, `${launch.name}.log`);
    const started = new Process(launch, log);
    this.#running.add(started);
    void started.exited.then(() => this.#running.delete(started));
    return started;
  }

  /** Ends them all; safe to call twice. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((one) => one.stop()));
  }
}

/** One pinned process. */
export class Process {
  readonly stdin: Writable;
  /** Only with `output: 'pipe'`. */
  readonly stdout: Readable | null;
  /** Resolves with the exit code, or `null` after a signal; never rejects. */
  readonly exited: Promise<number | null>;
  readonly #child: ChildProcessByStdio<Writable, Readable | null, null>;
  readonly #log: string;
  #ended = false;

  constructor({ command, args, core, env, output = 'log' }: Launch, log: string) {
    const out = openSync(log, 'a');
    this.#log = log;
    this.#child = spawn(
      'setpriv',
      ['--pdeathsig', 'KILL', '--', 'taskset', '-c', String(core), command, ...args],
      {
        stdio: ['pipe', output === 'pipe' ? 'pipe' : out, out],
        env: { ...process.env, NODE_OPTIONS: '', ...env },
      },
    ) as ChildProcessByStdio<Writable, Readable | null, null>;
    closeSync(out);
    this.stdin = this.#child.stdin;
    this.stdin.on('error', () => undefined);
    this.stdout = this.#child.stdout;
    this.exited = once(this.#child, 'exit').then(
      ([code]) => this.#end(code as number | null),
      () => this.#end(null),
    );
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /**
   * Puts it before the others on its core, where root measures: what the figures come from should not wait for what
   * happens to share the core with it.
   */
  goFirst(): void {
    try {
      setPriority(this.pid, firstNiceness);
    } catch {
      // Not allowed, or over already: then it shares the core as all do.
    }
  }

  /** What it has printed. */
  get log(): string {
    return readFileSync(this.#log, 'utf8');
  }

  /** Resolves when a loopback port accepts connections; rejects with its log if it ends or hangs before that. */
  async listening(port: number, limitMs = 20_000): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!this.#ended && performance.now() < deadline) {
      if (await accepts(port)) return;
      await sleep(20);
    }
    await this.stop();
    throw new Error(`did not start:\n${this.log.slice(-2_000)}`);
  }

  /** SIGTERM, and SIGKILL to what does not end by it. */
  async stop(): Promise<void> {
    if (this.#ended) return;
    this.#child.kill('SIGTERM');
    const insist = setTimeout(() => this.#child.kill('SIGKILL'), stopLimitMs);
    await this.exited;
    clearTimeout(insist);
  }

  #end(code: number | null): number | null {
    this.#ended = true;
    return code;
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
