/**
 * Two gateways behind a balancer, restarted one after the other under load. The short run is part of `npm test`; a long
 * one: `ROLLING_SECONDS=60 ROLLING_RATE=500 npm test -- test/faults/rolling-restart.test.ts`.
 */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, cli, startProcess, type GatewayProcess } from '../support/process.ts';
import type { Scope } from '../support/servers.ts';
import { migrated } from '../support/store.ts';
import { startRawUpstream, type Upstream } from '../support/upstreams.ts';
import { checkEveryMs, haproxyThere, startHaproxy } from './support/haproxy.ts';
import { startLoad } from './support/steady-load.ts';

const seconds = Number(process.env['ROLLING_SECONDS'] ?? 4);
const perSecond = Number(process.env['ROLLING_RATE'] ?? 100);
const noHaproxy =
  'NO ROLLING RESTART WAS TESTED: there is no HAProxy on this machine (apt-get install haproxy)';
if (!haproxyThere) process.stderr.write(`${noHaproxy}\n`);

const delayMs = 8 * checkEveryMs;
/** Longer than the delay, so a download outlives the listener that took it. */
const pieces = 30;
const pieceEveryMs = 50;

t.test(
  'both replicas restart under load: no request fails, no usage is lost, downloads come to their end',
  { skip: haproxyThere ? false : noHaproxy },
  async (t) => {
    const upstream = await startRawUpstream(t, () => (incoming, response) => {
      incoming.resume();
      if (incoming.url === '/download') void trickle(response);
      else incoming.on('end', () => response.end('done'));
    });
    const env = await surroundings(t, upstream);
    const replicas = [await startProcess(t, env), await startProcess(t, env)];
    await Promise.all(replicas.map(({ internalUrl }) => becomes(internalUrl, 200)));
    const key = await makeKey(replicas[0]);
    const balancer = await startHaproxy(t, replicas);
    await Promise.all([balancer.isUp(0), balancer.isUp(1)]);

    const began = performance.now();
    const load = startLoad(balancer.url, key, perSecond);
    const downloads: Promise<string>[] = [];
    for (const [i, replica] of replicas.entries()) {
      await sleep((seconds / 4) * 1000);
      // In turn, so that each replica has some.
      for (let n = 0; n < 4; n++) downloads.push(download(`${balancer.url}/download`, key));
      await eventually(() => streaming >= 4);
      t.equal(await replica.program.kill('SIGTERM'), 0, `replica ${i + 1} ends in order`);
      const again = await startProcess(t, replica.env);
      replicas[i] = again;
      await becomes(again.internalUrl, 200);
      await balancer.isUp(i);
    }
    await sleep(Math.max(0, seconds * 1000 - (performance.now() - began)));
    const { sent, failures, slowestMs } = await load.stop();

    t.same(failures, [], `${sent} requests, the slowest took ${Math.round(slowestMs)} ms`);
    t.ok(sent > 0.9 * perSecond * seconds, `${sent} requests were sent`);
    const whole = Array.from({ length: pieces }, (_, i) => `piece ${i}\n`).join('');
    t.same(await Promise.all(downloads), Array(8).fill(whole), 'every download is whole');
    await eventually(async () => (await counted(balancer.url, key)) >= sent + downloads.length);
    t.equal(await counted(balancer.url, key), sent + downloads.length, 'the report counts each request once');
    t.comment(`${sent} requests in ${Math.round(performance.now() - began)} ms, slowest ${slowestMs} ms`);
  },
);

let streaming = 0;

async function trickle(response: { write(piece: string): unknown; end(): unknown }): Promise<void> {
  streaming += 1;
  for (let i = 0; i < pieces; i++) {
    response.write(`piece ${i}\n`);
    await sleep(pieceEveryMs);
  }
  response.end();
  streaming -= 1;
}

async function surroundings(t: Scope, upstream: Upstream): Promise<Readonly<Record<string, string>>> {
  return {
    DATABASE_URL: await freshDatabase(t, migrated),
    UPSTREAM_URL: upstream.url,
    ADMIN_TOKEN: 'token-of-this-test',
    LOG_LEVEL: 'warn',
    CONFIG: configFile(t, `drain_delay_ms: ${delayMs}\nlimits: { max_event_loop_delay_ms: 0 }\n`),
  };
}

async function makeKey(
  replica: (GatewayProcess & { readonly env: Readonly<Record<string, string>> }) | undefined,
) {
  const env = replica?.env ?? {};
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
