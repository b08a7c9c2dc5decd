/** A gateway with fault points, and what one of them does to it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import type { Scope } from '../../support/servers.ts';
import { startWorld, type World } from '../fuzz/world.ts';
import { askAfresh, beginBystanders } from './bystanders.ts';
import type { Begin, End } from './kinds.ts';
import type { ChaosUpstream } from './upstream.ts';

const preload = fileURLToPath(new URL('preload.mjs', import.meta.url));
const gateway = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** Milliseconds after which something that should come at once counts as missing. */
const mostMs = 3_000;
/** The same for what no fault can hold up, but a busy machine can. */
const lateMs = 30_000;

/** A fault point and an exchange in which it fires. */
export interface Trial {
  readonly point: string;
  /** Whether the call comes from a timer, which serves all exchanges. */
  readonly timer: boolean;
  /** Kinds of exchanges that call it. */
  readonly kinds: string[];
}

/** What the gateway says of itself ({@link preload}). */
interface Report {
  readonly fired: boolean;
  readonly trace: string;
  readonly called: readonly [string, number][];
  readonly taken: number;
  readonly exchanges: number;
}

export class Gateway {
  readonly #t: Scope;
  readonly #upstream: ChaosUpstream;
  readonly #database: () => Promise<string>;
  #world: World | null = null;

  constructor(t: Scope, upstream: ChaosUpstream, database: () => Promise<string>) {
    this.#t = t;
    this.#upstream = upstream;
    this.#database = database;
  }

  /** Points that an exchange calls, if it is let alone. */
  async pointsOf(begin: Begin): Promise<{ point: string; timer: boolean }[]> {
    const world = await this.#running();
    const scope = new Ended();
    await this.#ask({ reset: true });
    const end = await this.#begin(scope, world, begin);
    if (end !== undefined) await sleep(250);
    await within(end?.());
    await scope.end();
    const { called } = await this.#ask({ reset: true });
    const left = await this.#leaks();
    if (left.length > 0) throw new Error(left.join());
    return called.flatMap(([point, when]) => [
      ...((when & 1) > 0 ? [{ point, timer: false }] : []),
      ...((when & 2) > 0 ? [{ point, timer: true }] : []),
    ]);
  }

  /** Fires a point beside bystanders. @returns the harm that it does to others */
  async run({ point, timer }: Trial, begin: Begin): Promise<{ fired: boolean; harm: string[] }> {
    const world = await this.#running();
    const { port } = world;
    const harm: string[] = [];
    const scope = new Ended();
    let report: Report | undefined;
    try {
      // A sweep visits the oldest exchange first.
      const early = timer ? await this.#begin(scope, world, begin) : undefined;
      const begun = beginBystanders(scope, port, this.#upstream, world);
      const others = await inTime(begun, 'the bystanders did not begin', lateMs);
      await this.#ask({ arm: point, timer });
      const end = timer ? early : await this.#begin(scope, world, begin);
      // What a timer does, or a client that has left, comes a moment later.
      if (timer || end === undefined) await until(async () => (await this.#ask({})).fired, 400);
      await within(end?.());
      report = await this.#ask({});
      await this.#ask({ arm: 'none', timer: false });
      const harmed: string[] = [];
      for (const [name, end] of Object.entries(others)) {
        await inTime(end(), 'does not end').catch((error: unknown) =>
          harmed.push(`${name}: ${String(error)}`),
        );
      }
      // A round over all exchanges may have come to a bystander first.
      if (!timer || harmed.length > 1) harm.push(...harmed);
      await inTime(askAfresh(scope, port, world), 'later requests had no response');
    } catch (error) {
      if (world.running()) harm.push(`${String(error)}; its log: ${world.output().slice(-2000)}`);
    }
    await scope.end();
    if (world.running()) harm.push(...(await this.#leaks()));
    else harm.unshift(`the process died: ${world.output().slice(-2000)}`);
    if (harm.length > 0) await this.#restart();
    return { fired: report?.fired ?? harm.length > 0, harm };
  }

  /** What is still held though nothing is under way. Closes idle connections, so each trial begins without one. */
  async #leaks(): Promise<string[]> {
    let last: Report | undefined;
    const none = await until(async () => {
      last = await this.#ask({});
      return last.exchanges === 0 && last.taken === 0;
    }, mostMs);
    if (!none) return [`left behind: ${last?.exchanges} exchanges, ${last?.taken} places`];
    // A request that met an idle connection as it closes would get a 502.
    const closed = inTime(this.#upstream.closeIdle(), 'left behind: an idle connection');
    return closed.then(
      () => [],
      (error: unknown) => [String(error)],
    );
  }

  #begin(scope: Scope, world: World, begin: Begin): Promise<End | undefined> {
    const place = {
      t: scope,
      port: world.port,
      key: world.solo.key,
      upstream: this.#upstream,
      id: randomUUID(),
    };
    return within(begin(place));
  }

  async #running(): Promise<World> {
    if (this.#world !== null) return this.#world;
    const world = await startWorld(this.#t, {
      databaseUrl: await this.#database(),
      redisUrl: '',
      config: configuration(this.#upstream.url),
      gateway,
      preload,
    });
    this.#world = world;
    return world;
  }

  async #restart(): Promise<void> {
    const child = this.#world?.child;
    this.#world = null;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async #ask(message: object): Promise<Report> {
    const { child } = await this.#running();
    const answer = new Promise<Report>((resolve, reject) => {
      const gone = (): void => reject(new Error('the gateway has ended'));
      child.once('exit', gone);
      child.once('message', (said) => {
        child.off('exit', gone);
        resolve(said as Report);
      });
      child.send(message, (error) => error !== null && reject(error));
    });
    return inTime(answer, 'the process does not answer', lateMs);
  }
}

function configuration(url: string): string {
  return `upstream_url: ${url}
route_defaults: { connections: 64, timeouts: { connect_ms: 1500 } }
routes:
  - { prefix: /undici, upstream: "${url}", client: undici }
  - { prefix: /cors, upstream: "${url}", cors: { origins: ["https://a.test"] } }
  - { prefix: /away, upstream: "http://127.0.0.1:9" }
  - { prefix: /undici-away, upstream: "http://127.0.0.1:9", client: undici }
`;
}

/** The clients of one trial, which end with it. */
class Ended implements Scope {
  readonly #ends: (() => unknown)[] = [];

  teardown(end: () => unknown): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends) await end();
  }
}

/** Waits for a promise, but not for long, and not for its success. */
function within<T>(promise: T | Promise<T>): Promise<T | undefined> {
  return inTime(Promise.resolve(promise), 'late').catch(() => undefined);
}

/** Waits for what has to come. @throws Error with the text `late` if it does not */
async function inTime<T>(promise: Promise<T>, late: string, limitMs = mostMs): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const none = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(late)), limitMs);
  });
  try {
    return await Promise.race([promise, none]);
  } finally {
    clearTimeout(timer);
  }
}

async function until(condition: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  try {
    await eventually(condition, { limitMs, everyMs: 5 });
    return true;
  } catch {
    return false;
  }
}
