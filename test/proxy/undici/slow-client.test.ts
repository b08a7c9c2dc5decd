// class: pure
/** What the exchange pauses is the socket, never undici's parser: undici 7 ends the process when a paused connection ends. */
import type { Socket } from 'node:net';
import t from 'tap';
import type { InFlightRequest, UpstreamClient } from '../../../src/proxy/upstream/upstream-client.ts';
import { ask, openUndici } from '../../support/upstream-client.ts';
import { startTcpUpstream } from '../../support/upstreams.ts';

const body = 'x'.repeat(1000);

t.test('an upstream that closes while the client is slow: its response is read to the end', async (t) => {
  const { url } = await startTcpUpstream(t, (socket, head) =>
    head.startsWith('GET /slow')
      ? socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n${body}`)
      : socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n`),
  );
  const client = await openUndici(t, url);
  const slow = forward(client, '/slow');
  await slow.paused;
  // By the time that a second connection has carried a response and its end, the end of the first one is here too.
  await forward(client, '/quick').ended;
  slow.resume();
  t.equal(await slow.ended, body);
});

t.test('an upstream that resets while the client is slow: a failure, not an end', async (t) => {
  const sockets: Socket[] = [];
  const { url } = await startTcpUpstream(t, (socket) => {
    sockets.push(socket);
    socket.write(`HTTP/1.1 200 OK\r\n\r\n${body}`);
  });
  const slow = forward(await openUndici(t, url), '/slow');
  await slow.paused;
  sockets[0]?.resetAndDestroy();
  await t.rejects(slow.ended, { code: 'ECONNRESET' });
});

t.test('a connection whose last piece met a slow client carries the next response', async (t) => {
  const sockets = new Set<Socket>();
  const { url } = await startTcpUpstream(t, (socket) => {
    sockets.add(socket);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${body}`);
  });
  const client = await openUndici(t, url, 1);
  for (const target of ['/first', '/second', '/third']) t.equal(await forward(client, target).ended, body);
  t.equal(sockets.size, 1);
});

/** Sends a request of which every piece of the response's body is one too many. */
function forward(client: UpstreamClient, target: string) {
  let inFlight: InFlightRequest | undefined;
  let text = '';
  let pause = (): void => undefined;
  /** A piece of the body came, and reading was paused. */
  const paused = new Promise<void>((resolve) => (pause = resolve));
  const ended = ask(client, target, null, {
    onInFlight: (each) => (inFlight = each),
    onBody: (chunk) => {
      text += chunk.toString();
      pause();
      return false;
    },
  }).then(() => text);
  return { paused, ended, resume: () => inFlight?.resume() };
}
