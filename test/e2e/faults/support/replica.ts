/** One gateway process, the built one, with the connections to its stores going through proxies of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { configFile } from '../../../support/config-files.ts';
import { eventually } from '../../../support/eventually.ts';
import { childrenOf } from '../../../support/processes.ts';
import type { Scope } from '../../../support/servers.ts';
import { TcpProxy } from '../../../support/tcp-proxy.ts';
import { usageFolder } from '../../../support/usage-folder.ts';
import { unusedPort } from '../../../servers/unused-port.mjs';
import { HttpClient } from './http-client.ts';

const MAIN = fileURLToPath(new URL('../../../../dist/main.js', import.meta.url));

const CLOCK_RATE = new URL('clock-rate.mjs', import.meta.url).href;

const adminToken = 'operator-token-of-the-fault-tests';

export interface Surroundings {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly upstreamUrl: string;
  readonly leaseMs: number;
  /** Its S, whole seconds (1). */
  readonly streamsS?: number;
  /** Of its clocks, to those of the machine (1). */
  readonly clockRate?: number;
  /** How far its wall clock is ahead of the machine's, in milliseconds (0). */
  readonly clockAheadMs?: number;
  /** Processes that share its listeners (1). */
  readonly workers?: number;
}

/** What asks a gateway needs of it, however it was started. */
export type Asked = Pick<Replica, 'name' | 'client' | 'operator'>;

export class Replica {
  readonly name: string;
  readonly toPostgres: TcpProxy;
  readonly toRedis: TcpProxy;
  readonly client: HttpClient;
  readonly operator: HttpClient;
  /** What it wrote to standard error, and its log from level error on. */
  output = '';
  readonly #env: NodeJS.ProcessEnv;
  #process: ChildProcess | undefined;

  private constructor(
    name: string,
    proxies: readonly [TcpProxy, TcpProxy],
    ports: readonly [number, number],
    env: NodeJS.ProcessEnv,
  ) {
    this.name = name;
    [this.toPostgres, this.toRedis] = proxies;
    this.client = new HttpClient(`http://127.0.0.1:${ports[0]}`);
    this.operator = new HttpClient(`http://127.0.0.1:${ports[1]}`, adminToken);
    this.#env = env;
  }

  static async make(t: Scope, name: string, surroundings: Surroundings): Promise<Replica> {
    const { postgresUrl, redisUrl, upstreamUrl, leaseMs, streamsS = 1, workers } = surroundings;
    const { clockRate = 1, clockAheadMs = 0 } = surroundings;
    const [toPostgres, toRedis] = [await TcpProxy.open(t, postgresUrl), await TcpProxy.open(t, redisUrl)];
    const ports = [await unusedPort(), await unusedPort()] as const;
    const replica = new Replica(name, [toPostgres, toRedis], ports, {
      PATH: process.env['PATH'],
      PORT: String(ports[0]),
      INTERNAL_PORT: String(ports[1]),
      ADMIN_TOKEN: adminToken,
      DATABASE_URL: toPostgres.url,
      REDIS_URL: toRedis.url,
      UPSTREAM_URL: upstreamUrl,
      COHERENCE_LEASE_MS: String(leaseMs),
      CONFIG: configFile(t, `coherence: {streams_outlive_lease_s: ${streamsS}}\n`),
      LOG_LEVEL: 'error',
      USAGE_JOURNAL_DIR: usageFolder(),
      ...(workers !== undefined && { WORKERS: String(workers) }),
      ...((clockRate !== 1 || clockAheadMs !== 0) && {
        NODE_OPTIONS: `--import=${CLOCK_RATE}`,
        TEST_CLOCK_RATE: String(clockRate),
        TEST_CLOCK_AHEAD_MS: String(clockAheadMs),
      }),
    });
    t.teardown(() => replica.dispose());
    await replica.start();
    return replica;
  }

  get running(): boolean {
    return (
      this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
    );
  }

  /** Starts it, on its ports. Resolves at once; see {@link ready}. */
  async start(): Promise<void> {
    if (this.running) return;
    const child = spawn(process.execPath, [MAIN], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.output = (this.output + chunk.toString()).slice(-20_000);
      });
    }
    this.#process = child;
  }

  /** Resolves when it says that it can decide. */
  async ready(): Promise<void> {
    await eventually(
      async () => {
        if (!this.running) throw new Error(`${this.name} has ended:\n${this.output}`);
        return (await this.operator.send('GET', '/readyz'))?.status === 200;
      },
      { everyMs: 50 },
    );
  }

  /** Of the process that runs. */
  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error(`${this.name} was not started`);
    return pid;
  }

  /** Ids of the processes that it started. */
  workers(): number[] {
    return this.#process?.pid === undefined ? [] : childrenOf(this.#process.pid);
  }

  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks it to drain and end, and insists after a while. */
  async stop(): Promise<void> {
    await Promise.race([this.#end('SIGTERM'), sleep(10_000, undefined, { ref: false })]);
    await this.kill();
  }

  async dispose(): Promise<void> {
    await this.kill();
    await Promise.all([this.client.close(), this.operator.close()]);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (child === undefined || !this.running) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}
