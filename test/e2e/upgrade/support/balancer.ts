/** A client that sends to the replicas whose `/readyz` says so, as a balancer would, and counts what fails. */
import { Agent, request } from 'undici';
import { readiness, type GatewayProcess } from '../../../support/process.ts';
import type { Scope } from '../../../support/servers.ts';

export interface Response {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Which replica it came from. */
  readonly by: string;
  /** When it was sent there, on this process's monotonic clock. */
  readonly began: number;
}

/** How often each replica is asked whether it is ready. */
const checkEveryMs = 100;
/** What was heard longer ago says nothing: this process may have stood still meanwhile. Less than the replicas' delay. */
const freshMs = 1_000;
/** Requests under way to one replica. More wait here, where they can still go to another one. */
const mostEach = 24;
const fewFailures = 20;
/** The detail of the problem, in the words of each version. */
const cutOff = /Access was \w+ while the request was (?:under way|in flight)/;

export class Balancer {
  readonly failures: string[] = [];
  sent = 0;
  failed = 0;
  readonly #agent = new Agent({ connections: mostEach, pipelining: 1 });
  /** When each ready one was last asked. */
  readonly #ready = new Map<GatewayProcess, number>();
  readonly #underWay = new Map<GatewayProcess, number>();
  #stopped = false;

  constructor(t: Scope) {
    t.teardown(async () => {
      this.#stopped = true;
      await this.#agent.destroy();
    });
  }

  /** Checks a replica from now on, until it has ended. */
  add(replica: GatewayProcess): void {
    void this.#check(replica);
  }

  /** Whether requests go to it. */
  uses(replica: GatewayProcess): boolean {
    return this.#fresh().includes(replica);
  }

  /**
   * Sends to the ready replica with the fewest requests. Whatever has not one of the statuses in `expected` has failed; but a
   * request that was cut off because its key was revoked meanwhile was only unlucky.
   */
  async send(
    method: 'GET' | 'POST',
    path: string,
    key: string,
    expected: readonly number[],
    body?: object,
  ): Promise<Response | undefined> {
    this.sent += 1;
    const replica = await this.#next();
    if (replica === undefined) return this.#fail(`${method} ${path}: no replica is ready`);
    this.#count(replica, 1);
    const began = performance.now();
    try {
      const response = await request(`${replica.url}${path}`, {
        dispatcher: this.#agent,
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.body.text();
      if (response.statusCode === 503 && expected.includes(401) && cutOff.test(text)) return undefined;
      if (!expected.includes(response.statusCode))
        return this.#fail(`${method} ${path} at ${replica.url}: ${response.statusCode} ${text}`);
      return {
        status: response.statusCode,
        body: JSON.parse(text) as Response['body'],
        by: replica.url,
        began,
      };
    } catch (error) {
      return this.#fail(`${method} ${path} at ${replica.url}: ${String(error)}`);
    } finally {
      this.#count(replica, -1);
    }
  }

  #count(replica: GatewayProcess, by: number): void {
    this.#underWay.set(replica, (this.#underWay.get(replica) ?? 0) + by);
  }

  /** Waits for the next check where the last one is too old, and for responses where all have enough to do. */
  async #next(): Promise<GatewayProcess | undefined> {
    while (this.#ready.size > 0) {
      const [least] = this.#fresh()
        .map((replica) => ({ replica, load: this.#underWay.get(replica) ?? 0 }))
        .sort((a, b) => a.load - b.load);
      if (least !== undefined && least.load < mostEach) return least.replica;
      await new Promise((resolve) => setTimeout(resolve, checkEveryMs / 4));
    }
    return undefined;
  }

  #fresh(): readonly GatewayProcess[] {
    const now = performance.now();
    return [...this.#ready].filter(([, atMs]) => now - atMs < freshMs).map(([replica]) => replica);
  }

  #fail(what: string): undefined {
    this.failed += 1;
    if (this.failures.length < fewFailures) this.failures.push(what);
  }

  async #check(replica: GatewayProcess): Promise<void> {
    while (!this.#stopped && replica.program.running) {
      const atMs = performance.now();
      if ((await readiness(replica.internalUrl))?.status === 200) this.#ready.set(replica, atMs);
      else this.#ready.delete(replica);
      await new Promise((resolve) => setTimeout(resolve, checkEveryMs));
    }
    this.#ready.delete(replica);
  }
}
