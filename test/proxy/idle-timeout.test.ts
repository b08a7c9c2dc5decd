// class: real
import t from 'tap';
import { eventually, standstill, startGateway } from '../support/gateway.ts';
import { collect } from '../support/memory.ts';
import { rawClient, type RawClient } from '../support/raw-client.ts';
import { startRawUpstream } from '../support/upstreams.ts';

const clients = 50;
const bodyBytes = 64 * 1024 * 1024;
/**
 * A piece of 64 KiB that was read, as much that waits to be sent, the same once more at the other ends, which are in this
 * process, and a little.
 */
const mostBytesPerClient = 448 * 1024;

t.test('clients that stop reading hold a bounded piece each, however large the body', async (t) => {
  let taken = 0;
  const piece = Buffer.alloc(64 * 1024);
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(200, { 'content-length': bodyBytes });
    const more = (): void => {
      while (response.writable && response.write(piece)) taken += piece.length;
      taken += piece.length;
    };
    response.on('drain', more);
    more();
  });
  const { port, finished, requestOf } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 2 * clients } },
  });
  const before = await buffered();
  const stalled: RawClient[] = [];
  for (let i = 0; i < clients; i++) {
    const client = await rawClient(t, port);
    client.socket.pause();
    client.send(requestOf('GET', '/'));
    stalled.push(client);
  }
  await standstill(() => taken);
  t.equal(upstream.heads, clients);
  const perClient = ((await buffered()) - before) / clients;
  t.ok(perClient < mostBytesPerClient, `${Math.round(perClient / 1024)} KB a client`);
  for (const { socket } of stalled) socket.destroy();
  await eventually(() => finished.length === clients, 'their ends');
});

t.test('so do clients whose upstream stops reading', async (t) => {
  const upstream = await startRawUpstream(t, () => (request) => void request.pause());
  const timeouts = { connectMs: 5000, headersMs: 5000, bodyMs: 5000 };
  const { finished, dial, requestOf } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 2 * clients, timeouts } },
  });
  const before = await buffered();
  let sent = 0;
  const piece = Buffer.alloc(64 * 1024);
  const stalled: RawClient[] = [];
  for (let i = 0; i < clients; i++) {
    const client = await dial(requestOf('POST', '/', [['Content-Length', String(bodyBytes)]]));
    const more = (): void => {
      while (client.socket.writable && client.socket.write(piece)) sent += piece.length;
      sent += piece.length;
    };
    client.socket.on('drain', more);
    more();
    stalled.push(client);
  }
  await standstill(() => sent);
  t.equal(upstream.heads, clients);
  const perClient = ((await buffered()) - before) / clients;
  t.ok(perClient < mostBytesPerClient, `${Math.round(perClient / 1024)} KB a client`);
  // That they leave is not seen while nothing is read from them; the upstream's limit ends the wait.
  for (const { socket } of stalled) socket.destroy();
  await eventually(() => finished.length === clients, 'their ends');
});

/**
 * Bytes that are kept in buffers of this process: the gateway's, and those of the clients and the upstream. What was
 * collected is freed a little later, on another thread.
 */
async function buffered(): Promise<number> {
  let least = Infinity;
  for (let round = 0; round < 5; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
    least = Math.min(least, process.memoryUsage().arrayBuffers);
  }
  return least;
}
