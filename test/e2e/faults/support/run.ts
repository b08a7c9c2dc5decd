/** A seeded run of real gateways over a real PostgreSQL and a real Redis, with things going wrong. */
import postgres from 'postgres';
import { leaseWaitMs } from '../../../../src/coherence/timing.ts';
import { Random } from '../../../support/coherence/random.ts';
import { startPostgres } from '../../../support/postgres.ts';
import { startRedis } from '../../../support/redis.ts';
import type { PrivateServer, Scope } from '../../../support/servers.ts';
import { cells, type ByHand } from './cells.ts';
import { Cluster } from './cluster.ts';
import { History } from './history.ts';
import { faults, workerFaults, type Victims } from './faults.ts';
import { Prober } from './prober.ts';
import { Replica } from './replica.ts';
import { RunEnded, Tenants } from './tenants.ts';
import { openStreams, type Passed } from './streams.ts';
import { startUpstream } from './upstream.ts';

export interface RunPlan {
  readonly seed: number;
  readonly durationMs: number;
  /** What has to be seen before the run ends, however long that takes (nothing). */
  readonly atLeast?: { readonly decisions: number; readonly mutations: number };
  readonly replicas: number;
  /** Processes that share the listeners of each, each of them a replica (1). */
  readonly workers?: number;
  /** Each replica in turn gets one of these as its T, milliseconds. */
  readonly leases: readonly number[];
  /** Their S, whole seconds (1). */
  readonly streamsS?: number;
  /** How wrong the clocks of replicas are, as a share, in turn too fast and too slow (0). */
  readonly clockError?: number;
  /** How far the wall clocks of two replicas in a row are apart, in milliseconds (0). */
  readonly wallClocksApartMs?: number;
  /** `default_transaction_isolation` of the server. */
  readonly isolation?: string;
  /** Keys are revoked by SQL, too. */
  readonly byHand?: boolean;
  /** PostgreSQL has a synchronous standby, which may have to take over. */
  readonly standby?: boolean;
  /** Probes under way at once to one replica, and the pause after each: more and shorter cost processor time. */
  readonly probesAtOnce: number;
  readonly probePauseMs: number;
  /** Which faults, in turn, and none after them; left out: drawn from {@link from}. */
  readonly schedule?: readonly string[];
  /** Which faults to draw from; left out: all of them. */
  readonly from?: readonly string[];
  readonly say?: (line: string) => void;
}

/** What was seen; `mutationMs` has the shortest first. */
export type RunOutcome = History & {
  readonly faults: readonly string[];
  /** Whether every replica was ready again at the end. */
  readonly recovered: boolean;
};

export async function runFaults(t: Scope, plan: RunPlan): Promise<RunOutcome> {
  const { seed, durationMs, leases, streamsS = 1, clockError = 0, say = () => undefined } = plan;
  const passed: Passed = new Map();
  const random = new Random(seed);
  const { wallClocksApartMs = 0, isolation } = plan;
  const settings = { ...(isolation !== undefined && { default_transaction_isolation: isolation }) };
  const [cluster, alone, redis, upstreamUrl] = await Promise.all([
    plan.standby === true ? Cluster.start(t, settings) : null,
    plan.standby === true ? null : startPostgres(t, settings),
    startRedis(t),
    startUpstream(t, passed),
  ]);
  const victims = {
    get postgres() {
      return (cluster?.primary ?? alone) as PrivateServer;
    },
    cluster,
    redis,
    leaseMs: Math.max(...leases),
    streamsMs: 1_000 * streamsS,
  };
  const { url: postgresUrl } = victims.postgres;
  const replicas = await Promise.all(
    Array.from({ length: plan.replicas }, (_, i) =>
      Replica.make(t, `replica ${i + 1}`, {
        postgresUrl,
        redisUrl: redis.url,
        upstreamUrl,
        leaseMs: leases[i % leases.length] as number,
        streamsS,
        ...(plan.workers !== undefined && { workers: plan.workers }),
        clockAheadMs: (i % 2 === 0 ? 0.5 : -0.5) * wallClocksApartMs,
        ...(clockError > 0 && { clockRate: i % 2 === 0 ? 1 - clockError : 1 + clockError }),
      }),
    ),
  );
  await Promise.all(replicas.map((replica) => replica.ready()));
  say(`${replicas.length} replicas are ready`);

  const history = new History();
  const until = performance.now() + durationMs;
  const { decisions, mutations } = plan.atLeast ?? { decisions: 0, mutations: 0 };
  const stopped = (): boolean =>
    performance.now() >= until && history.decisions >= decisions && history.mutationMs.length >= mutations;
  const prober = new Prober(replicas, history, random, stopped);
  const tenants = new Tenants(replicas, random, stopped);
  const burst = (probes: Parameters<Prober['burst']>[0]): void => prober.burst(probes);
  const open = (key: string, onPassed: () => void): void => {
    const name = `s${passed.size}`;
    passed.set(name, onPassed);
    for (const { client } of replicas) openStreams(Number(new URL(client.origin).port), key, name, passed);
  };
  const byHand = plan.byHand === true ? handIn(() => victims.postgres.url, victims.leaseMs) : null;
  const writing = cells.map((cell, i) =>
    cell({ tenants, history, random, stopped, burst, openStreams: open, byHand }, (probes) =>
      prober.show(i, probes),
    ).catch(ignoreEnd),
  );
  const all = Object.assign(victims, { replicas, tenants, history, stopped });
  const suffered = await sufferUntil(stopped, all, random, plan, say, [
    ...writing,
    prober.run(plan.probesAtOnce, plan.probePauseMs),
  ]);

  const recovered = await Promise.all(replicas.map((replica) => replica.ready())).then(
    () => true,
    () => false,
  );
  history.close();
  history.mutationMs.sort((a, b) => a - b);
  return Object.assign(history, { faults: suffered, recovered });
}

/** A hand in the database, whichever server is the primary. */
function handIn(url: () => string, leaseMs: number): ByHand {
  return {
    // A lease that began before the commit has ended then, by any clock; a tenth of a second for this process.
    enforcedMs: leaseWaitMs(leaseMs) + 100,
    run: async (statement) => {
      // The driver's look-up of types rejects unheard if the server goes away in that moment.
      const sql = postgres(url(), {
        max: 1,
        connect_timeout: 2,
        fetch_types: false,
        onnotice: () => undefined,
      });
      try {
        return (await sql.unsafe(statement)).count === 1;
      } catch {
        return false;
      } finally {
        // A server that goes away in this moment is what the run is about.
        await sql.end({ timeout: 1 }).catch(() => undefined);
      }
    },
  };
}

async function sufferUntil(
  stopped: () => boolean,
  victims: Victims,
  random: Random,
  { schedule, from = Object.keys(faults) }: RunPlan,
  say: (line: string) => void,
  meanwhile: readonly Promise<void>[],
): Promise<string[]> {
  const suffered: string[] = [];
  // A stream of its own: what goes wrong must not depend on how fast the responses come.
  const own = new Random(random.below(2 ** 31));
  const work = async (): Promise<void> => {
    await sleep(own.between(100, 1_000));
    for (let i = 0; !stopped(); i++) {
      if (schedule !== undefined && i >= schedule.length) return;
      const name = schedule?.[i] ?? own.pick(from);
      say(name);
      suffered.push(name);
      const fault = faults[name] ?? workerFaults[name];
      if (fault === undefined) throw new Error(`no such fault: ${name}`);
      await fault(victims, own).catch(ignoreEnd);
      await sleep(own.between(50, 600));
    }
  };
  await Promise.all([work(), ...meanwhile]);
  return suffered;
}

function ignoreEnd(error: unknown): void {
  if (!(error instanceof RunEnded)) throw error;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
