// class: real
/** WebSockets with several processes that share the public listener: each is held by one worker. */
import t, { type Test } from 'tap';
import { eventually } from '../../support/eventually.ts';
import { bearer, openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';
import type { WebSocketClient, WebSocketUpstream } from '../../support/websockets.ts';
import {
  allReady,
  onePerWorker,
  send,
  servedBy,
  startWorkers,
  type WorkersProcess,
} from '../../support/workers.ts';

t.test('a revoke ends the WebSockets of every worker, whichever of them it was made through', async (t) => {
  const { gateway } = await start(t);
  const { parent, port, program } = gateway;
  const child = await parent.create();
  const key = await child.mint();
  const { body } = await parent.call('GET', `/${child.id}/api-keys`);
  const [{ id } = { id: '' }] = body['data'] as { id: string }[];
  const sockets = await onePerWorkerOpen(t, gateway, key);

  const revoked = await parent.call('POST', `/${child.id}/api-keys/${id}/revoke`);
  t.equal(revoked.status, 200);
  t.match(revoked.headers['x-service-enforced'], /replicas=2\b/);
  await eventually(() => sockets.every(({ closed }) => closed !== null));
  for (const { closed } of sockets) t.same(closed, { code: 4403, reason: 'access was withdrawn' });
  // So one of the two was not that of the worker that revoked.
  await eventually(() => servedBy(program, /^\/ws$/).length === 2);
  await eventually(() => servedBy(program, /revoke$/).length === 1);
  for (let i = 0; i < 2; i++) await t.rejects(openWebSocket(t, port, '/ws', bearer(key)), /status 401/);
});

t.test('a worker that is killed takes its WebSockets with it, at both ends, and no others', async (t) => {
  const { gateway, upstream } = await start(t);
  const { key, port, internalUrl, pids } = gateway;
  const sockets = await onePerWorkerOpen(t, gateway, key);
  const [victim = 0] = pids();
  process.kill(victim, 'SIGKILL');
  await eventually(() => sockets.some(({ closed }) => closed !== null));
  await eventually(() => upstream.sockets.some((socket) => socket.readyState === socket.CLOSED));
  await eventually(() => pids().length === 2 && !pids().includes(victim));
  await allReady(internalUrl, 2);

  const [cut, ...others] = sockets.filter(({ closed }) => closed !== null);
  t.match(cut?.closed, { code: 1006 });
  t.same(others, []);
  const again = [
    await openWebSocket(t, port, '/ws', bearer(key)),
    await openWebSocket(t, port, '/ws', bearer(key)),
  ];
  for (const client of [...sockets.filter(({ closed }) => closed === null), ...again]) await speaks(client);
  t.equal(upstream.sockets.filter((socket) => socket.readyState === socket.OPEN).length, 3);
});

async function start(t: Test): Promise<{ gateway: WorkersProcess; upstream: WebSocketUpstream }> {
  const upstream = await startWebSocketUpstream(t);
  return { gateway: await startWorkers(t, { UPSTREAM_URL: upstream.url }), upstream };
}

/** An open WebSocket through each worker. Where a connection has carried a request, its worker is known. */
async function onePerWorkerOpen(t: Test, gateway: WorkersProcess, key: string): Promise<WebSocketClient[]> {
  const first: Parameters<typeof onePerWorker>[2] = (client) => send(client, gateway.key, '/v1/sub-accounts');
  const connections = await onePerWorker(t, gateway, first);
  return Promise.all(
    connections.map(async ({ socket }) => {
      const createConnection = () => socket.removeAllListeners('data');
      const client = await openWebSocket(t, gateway.port, '/ws', bearer(key), [], { createConnection });
      await speaks(client);
      return client;
    }),
  );
}

/** What it sends comes back. */
async function speaks(client: WebSocketClient): Promise<void> {
  const before = client.messages.length;
  client.socket.send('hello');
  await eventually(() => client.messages.length > before);
}
