/** Replicas behind a balancer that are restarted one after the other while requests and downloads go on. */
import { request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { configFile } from '../../../support/config-files.ts';
import { eventually } from '../../../support/eventually.ts';
import { becomes, cli, startProcess } from '../../../support/process.ts';
import type { Scope } from '../../../support/servers.ts';
import { startRawUpstream } from '../../../support/upstreams.ts';
import { checkEveryMs, startHaproxy } from './haproxy.ts';
import { startLoad, type LoadOutcome } from './steady-load.ts';

export interface RollingPlan {
  readonly databaseUrl: string;
  /** How long at least: every replica is restarted once in any case. */
  readonly seconds: number;
  /** Requests a second. */
  readonly perSecond: number;
  readonly replicas?: number;
  /** Called after every restart. */
  readonly say?: (line: string) => void;
}

export interface RollingOutcome extends LoadOutcome {
  readonly seconds: number;
  readonly restarts: readonly Restart[];
  readonly downloads: { readonly begun: number; readonly whole: number; readonly faults: readonly string[] };
  /** Requests that the usage report adds up to, downloads included. */
  readonly counted: number;
}

/** One replica, ended by SIGTERM and started again. */
export interface Restart {
  readonly replica: number;
  readonly exitCode: number | null;
  /** Downloads that went through the replicas when the signal came. */
  readonly downloads: number;
  readonly drainMs: number;
  /** From its start until it was ready. */
  readonly startMs: number;
}

/** Time for the balancer to notice that a replica is leaving. */
const drainDelayMs = 30 * checkEveryMs;
const pauseMs = 1_000;
const downloadsEach = 4;
/** Longer than the delay, so a download outlives the listener that took it. */
const pieces = Array.from({ length: 80 }, (_, i) => `piece ${i}\n`);
const pieceEveryMs = 50;

/** Goes on after failures, and tells of them in the outcome. */
export async function rollingRestarts(t: Scope, plan: RollingPlan): Promise<RollingOutcome> {
  const trickling = { now: 0 };
  const upstream = await startRawUpstream(t, () => (incoming, response) => {
    incoming.resume();
    if (incoming.url === '/download') void trickle(response, trickling);
    else incoming.on('end', () => response.end('done'));
  });
  const env = {
    DATABASE_URL: plan.databaseUrl,
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: 'token-of-this-test',
    LOG_LEVEL: 'warn',
    CONFIG: configFile(t, `drain_delay_ms: ${drainDelayMs}\nlimits: { max_event_loop_delay_ms: 0 }\n`),
  };
  const replicas: Awaited<ReturnType<typeof startProcess>>[] = [];
  for (let i = 0; i < (plan.replicas ?? 2); i++) replicas.push(await startProcess(t, env));
  await Promise.all(replicas.map(({ internalUrl }) => becomes(internalUrl, 200)));
  const key = await makeKey(replicas[0]?.env ?? env);
  const balancer = await startHaproxy(t, replicas);
  await Promise.all(replicas.map((_, i) => balancer.isUp(i)));

  const began = performance.now();
  const elapsed = (): number => (performance.now() - began) / 1000;
  const load = startLoad(balancer.url, key, plan.perSecond);
  const downloads: Promise<string>[] = [];
  const restarts: Restart[] = [];
  while (elapsed() < plan.seconds || restarts.length < replicas.length) {
    const i = restarts.length % replicas.length;
    await sleep(pauseMs);
    // In turn, so that each replica has some.
    for (let n = 0; n < downloadsEach; n++) downloads.push(download(`${balancer.url}/download`, key));
    for (const each of downloads.slice(-downloadsEach)) each.catch(() => undefined);
    await eventually(() => trickling.now >= downloadsEach);
    const restart = { replica: i, downloads: trickling.now, ...(await restarted(i)) };
    restarts.push(restart);
    plan.say?.(
      `${elapsed().toFixed(1).padStart(6)} s  replica ${i + 1}: exit ${restart.exitCode} after ` +
        `${restart.drainMs} ms, ready again after ${restart.startMs} ms`,
    );
  }
  const seconds = elapsed();
  const outcome = await load.stop();
  const ends = await Promise.allSettled(downloads);
  const whole = ends.filter((end) => end.status === 'fulfilled' && end.value === pieces.join('')).length;
  const responded = outcome.sent - outcome.failed + whole;
  // Counts are added every two seconds; where some are lost the report says so in the end.
  await eventually(async () => (await counted(balancer.url, key)) >= responded).catch(() => undefined);
  return {
    ...outcome,
    seconds,
    restarts,
    downloads: {
      begun: downloads.length,
      whole,
      faults: ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : [])),
    },
    counted: await counted(balancer.url, key),
  };

  async function restarted(i: number): Promise<Pick<Restart, 'exitCode' | 'drainMs' | 'startMs'>> {
    const before = replicas[i];
    if (before === undefined) throw new RangeError(`there is no replica ${i}`);
    const signalled = performance.now();
    const exitCode = await before.program.kill('SIGTERM');
    const ended = performance.now();
    const again = await startProcess(t, before.env);
    replicas[i] = again;
    await becomes(again.internalUrl, 200);
    const ready = performance.now();
    await balancer.isUp(i);
    return { exitCode, drainMs: Math.round(ended - signalled), startMs: Math.round(ready - ended) };
  }
}

async function trickle(response: ServerResponse, trickling: { now: number }): Promise<void> {
  trickling.now += 1;
  for (const piece of pieces) {
    response.write(piece);
    await sleep(pieceEveryMs);
  }
  response.end();
  trickling.now -= 1;
}

async function makeKey(env: Readonly<Record<string, string>>): Promise<string> {
  const account = await cli(env, 'accounts', 'create', 'A', '--json');
  const { id } = JSON.parse(account.stdout) as { id: string };
  const minted = await cli(env, 'keys', 'create', id, '--name', 'k', '--json');
  return (JSON.parse(minted.stdout) as { api_key: string }).api_key;
}

/** On a connection of its own. Rejects where it is cut short. */
function download(url: string, key: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { agent: false, headers: { authorization: `Bearer ${key}` } }, (response) => {
      text(response).then(resolve, reject);
    })
      .on('error', reject)
      .end();
  });
}

/** What the usage report says was requested, everything together. */
async function counted(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/sub-accounts/usage`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await response.json()) as { data: { requests: number }[] };
  return data.reduce((sum, { requests }) => sum + requests, 0);
}
