/**
 * Private servers for tests that kill, pause or flush them. A supervisor process owns each one and removes it when this
 * process is gone, however it went.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const SUPERVISOR = fileURLToPath(new URL('../servers/supervisor.mjs', import.meta.url));

/** The part of tap's `t` that the helpers need. */
export interface Scope {
  teardown(end: () => unknown): unknown;
}

/** A server that belongs to one test. Its address and data stay the same through `kill`, `stop` and `start`. */
export class PrivateServer {
  url = '';
  readonly #supervisor: ChildProcessByStdio<Writable, Readable, null>;
  readonly #responses: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(kind: 'postgres' | 'redis' | 'pgbouncer', options: object) {
    // Detached: Ctrl-C in a terminal goes to the whole foreground group, and must not end the supervisor before its server.
    this.#supervisor = spawn(process.execPath, [SUPERVISOR, kind, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    this.#responses = createInterface({ input: this.#supervisor.stdout })[Symbol.asyncIterator]();
  }

  /** Starts it, on the same port and data when it ran before. Resolves when it responds. */
  start(): Promise<void> {
    return this.#command('start');
  }

  /** An orderly end, as an administrator would ask for. */
  stop(): Promise<void> {
    return this.#command('stop');
  }

  /** SIGKILL to it and all its processes, as in a power cut. */
  kill(): Promise<void> {
    return this.#command('kill');
  }

  /** SIGSTOP: connections stay open and new ones are accepted by the kernel, but there is no response. */
  pause(): Promise<void> {
    return this.#command('pause');
  }

  /** SIGCONT: ends a pause. */
  resume(): Promise<void> {
    return this.#command('resume');
  }

  /** A standby of PostgreSQL becomes a primary of its own. Resolves when it is one. */
  promote(): Promise<void> {
    return this.#command('promote');
  }

  /** An orderly end and a new start. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Ends it for good and removes its data. */
  async dispose(): Promise<void> {
    if (this.#supervisor.exitCode !== null) return;
    this.#supervisor.stdin.end();
    await once(this.#supervisor, 'exit');
  }

  #command(name: string): Promise<void> {
    const responded = this.#last.then(() => this.#ask(name));
    this.#last = responded.catch(() => undefined);
    return responded;
  }

  async #ask(name: string): Promise<void> {
    this.#supervisor.stdin.write(`${name}\n`);
    const next: IteratorResult<string, unknown> = await this.#responses.next();
    if (next.done) throw new Error(`the test server's supervisor ended during ${name}`);
    const response = JSON.parse(next.value) as { ok: true; url: string } | { ok: false; error: string };
    if (!response.ok) throw new Error(`${name}: ${response.error}`);
    this.url = response.url;
  }
}

/** Starts a private server that ends with the test. */
export async function startPrivateServer(
  t: Scope,
  kind: 'postgres' | 'redis' | 'pgbouncer',
  options: object,
): Promise<PrivateServer> {
  const server = new PrivateServer(kind, options);
  t.teardown(() => server.dispose());
  await server.start();
  return server;
}

/** What `npm test` tells test files about the servers it found. */
export function fromRunner(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(
    `${name} is not set. Run this through "npm test -- ${process.argv[1] ?? ''}"; ` +
      `if you did, its first lines say why there is no such server.`,
  );
}
