// class: app
/** What a live tail says about requests and streams that are open now, over two whole gateways. */
import { request } from 'node:http';
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { speaksFor, watch, type Watch } from '../../support/live-watch.ts';
import { startReplicas } from '../../support/replicas.ts';
import type { Scope } from '../../support/servers.ts';
import { startRawUpstream } from '../../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';

const streaming = await startRawUpstream(t, () => (incoming, response) => {
  if (incoming.url === '/live/stream')
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: hello\n\n');
});
const sockets = await startWebSocketUpstream(t);
const replicas = await startReplicas(
  t,
  `routes:\n  - {prefix: /live, upstream: "${streaming.url}"}\n  - {prefix: /ws, upstream: "${sockets.url}"}`,
);
const origins = [replicas.manageOrigin, replicas.origin];

/** Opens a request without a response, an event stream and a WebSocket on each replica. */
async function openAll(t: Scope, key: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, ...more };
  for (const origin of origins) {
    for (const path of ['/live/slow', '/live/stream']) {
      const heads = streaming.heads;
      const sent = request(`${origin}${path}`, { headers, agent: false }).on('error', () => undefined);
      sent.on('response', (response) => response.on('error', () => undefined).resume()).end();
      t.teardown(() => void sent.destroy());
      await eventually(() => streaming.heads > heads);
    }
    await openWebSocket(t, Number(new URL(origin).port), '/ws', headers);
  }
}

async function says(tail: Watch, requests: number, streams: number): Promise<void> {
  await eventually(() => {
    const { open } = tail.states().at(-1) ?? {};
    return open?.requests === requests && open.streams === streams;
  });
}

t.test('a tail says what its account or key has open on all replicas, until it is stopped', async (t) => {
  const parent = await replicas.parent();
  const [sub, idle] = [await parent.create(), await parent.create()];
  const minted = await parent.call('POST', `/${sub.id}/api-keys`, { body: { name: 'doomed' } });
  await openAll(t, String(minted.body['api_key']));
  await openAll(t, parent.key, { 'x-service-acting-tenant': sub.id });
  await openAll(t, (await replicas.parent()).key);
  const tails = [];
  for (const query of [
    `?account_id=${parent.id}`,
    `?account_id=${sub.id}&code=internal`,
    `?api_key_id=${String(minted.body['id'])}`,
    `?account_id=${idle.id}`,
    '',
  ])
    tails.push(await watch(t, replicas.internalOrigin, query));
  for (const tail of tails) await speaksFor(tail, 2);
  const [ofParent, ofSub, ofKey, ofIdle, all] = tails as [Watch, Watch, Watch, Watch, Watch];
  await says(ofParent, 4, 8);
  await says(ofSub, 4, 8);
  await says(ofKey, 2, 4);
  await says(ofIdle, 0, 0);
  await says(all, 6, 12);
  await parent.call('POST', `/${sub.id}/api-keys/${String(minted.body['id'])}/revoke`);
  await says(ofKey, 0, 0);
  await says(ofParent, 2, 4);
  t.equal((await parent.call('POST', `/${sub.id}/deactivate`)).status, 200);
  await says(ofSub, 0, 0);
  await says(all, 2, 4);
});
