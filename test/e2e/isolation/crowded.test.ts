// class: night
/** One parent, as itself or as many sub-accounts, holds all it can of an upstream's connections. What another, at 50 requests a second, notices of it. */
import t, { type Test } from 'tap';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import type { Holder } from '../../support/memory-directory.ts';
import { rawClient, requestText } from '../../support/raw-client.ts';
import { startRawUpstream } from '../../support/upstreams.ts';

const perSecond = 50;
const lastsMs = 20_000;
const greedy = 300;
/** Milliseconds at p99 from which on a request counts as one that waited. */
const longMs = 1_000;
/** Rounds of which one has to do: a machine that has other things to do makes each request wait in some of them. */
const mostRounds = 5;

for (const [client, subAccounts] of [
  ['native', 0],
  ['undici', 0],
  ['native', greedy],
  ['undici', greedy],
] as const) {
  const crowd = subAccounts === 0 ? 'a tenant' : `${subAccounts} sub-accounts of a parent`;
  t.test(`${client}: beside ${crowd} no request fails, and none waits for a connection`, async (t) => {
    const upstream = await startRawUpstream(t, () => (request, response) => {
      if (request.method === 'POST') return void request.resume();
      if (request.url === '/large') response.write(Buffer.alloc(4 * 1024 * 1024));
      else response.end('ok');
    });
    const gateway = await startGateway(t, {
      routes: { '/': { upstream: upstream.url, connections: 256, client } },
    });
    const other = gateway.directory.addParent();
    await steady(gateway, upstream.url, other, 2_000);
    const alone = await steady(gateway, upstream.url, other, lastsMs);
    const children = Array.from({ length: subAccounts }, () =>
      gateway.directory.addSubAccount(gateway.parent),
    );
    const crowding = await crowdBy(t, gateway, children);
    let crowded = await steady(gateway, upstream.url, other, lastsMs);
    let { failed } = crowded;
    for (let round = 1; round < mostRounds && crowded.more >= longMs; round++) {
      t.pass(`round ${round}: at p99 ${crowded.more} ms more than without the gateway`);
      crowded = await steady(gateway, upstream.url, other, lastsMs);
      failed += crowded.failed;
    }
    crowding.stop();
    const figures = [alone, crowded].map(
      ({ p50, p99, more, failed }) =>
        `p50 ${p50} p99 ${p99} ms (at p99 ${more} ms more than without the gateway), ${failed} failed`,
    );
    t.comment(`alone: ${figures[0]}; crowded: ${figures[1]}`);
    t.equal(alone.failed + failed, 0);
    // How p99 compares is for a quiet machine to say; a wait for a connection would be seconds on any, in each round.
    t.ok(crowded.more < longMs, `${crowded.more} ms more than without the gateway, alone ${alone.more} ms`);
  });
}

/**
 * Requests at a constant rate, each counted from the moment it was due. Each has a twin that goes to
 * the upstream itself, so `more` leaves out the time for which the machine stood still.
 */
async function steady({ call }: TestGateway, upstream: string, { key }: Holder, forMs: number) {
  const took: number[] = [];
  const more: number[] = [];
  let failed = 0;
  const pending: Promise<void>[] = [];
  const began = performance.now();
  for (let i = 0; i < (forMs / 1_000) * perSecond; i++) {
    const due = began + (i * 1_000) / perSecond;
    await sleep(Math.max(0, due - performance.now()));
    const sinceDue = (): number => performance.now() - due;
    const pair = async (): Promise<void> => {
      const twin = fetch(upstream).then(async (response) => (await response.arrayBuffer(), sinceDue()));
      const ours = call('GET', '/', { key }).then(({ status }) => ({ status, ms: sinceDue() }));
      const [without, { status, ms }] = await Promise.all([twin, ours]);
      if (status !== 200) failed += 1;
      took.push(ms);
      more.push(ms - without);
    };
    pending.push(pair().catch(() => void (failed += 1)));
  }
  await Promise.all(pending);
  return { failed, p50: quantile(took, 0.5), p99: quantile(took, 0.99), more: quantile(more, 0.99) };
}

/** In ms, to a tenth. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round((sorted[Math.floor(share * sorted.length)] ?? NaN) * 10) / 10;
}

/** Uploads that trickle and downloads that stand still; each that ends is begun again. */
async function crowdBy(
  t: Test,
  { port, parent }: TestGateway,
  children: readonly Holder[],
): Promise<{ stop(): void }> {
  let stopped = false;
  const one = async (i: number): Promise<void> => {
    const child = children[i];
    const headers: [string, string][] = [['Authorization', `Bearer ${parent.key}`]];
    if (child !== undefined) headers.push(['X-Service-Acting-Tenant', child.id]);
    while (!stopped) {
      const client = await rawClient(t, port);
      const upload = i % 2 === 0;
      if (upload) client.send(requestText('POST', '/', [...headers, ['Content-Length', '1000000']]));
      else {
        client.socket.pause();
        client.send(requestText('GET', '/large', headers));
      }
      while (!stopped && !client.closed && client.text === '') {
        await sleep(500);
        if (upload) client.send('x');
      }
      client.socket.destroy();
    }
  };
  for (let i = 0; i < greedy; i++) void one(i);
  await sleep(2_000);
  return { stop: () => void (stopped = true) };
}
