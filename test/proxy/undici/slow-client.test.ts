// class: pure
/** What the exchange pauses is the socket, never undici's parser: undici 7 ends the process when a paused connection ends. */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { InFlightRequest, ResponseHandler } from '../../../src/proxy/upstream/upstream-client.ts';
import type { UpstreamClient } from '../../../src/proxy/upstream/upstream-client.ts';
import { admitted, openUndici } from '../../support/upstream-client.ts';

const body = 'x'.repeat(1000);

t.test('an upstream that closes while the client is slow: its response is read to the end', async (t) => {
  const forward = await forwarding(t, (socket, target) =>
    target === '/slow'
      ? socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n${body}`)
      : socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n`),
  );
  const slow = await forward('/slow');
  await slow.paused;
  // By the time that a second connection has carried a response and its end, the end of the first one is here too.
  await (
    await forward('/quick')
  ).ended;
  slow.resume();
  t.equal(await slow.ended, body);
});

t.test('an upstream that resets while the client is slow: a failure, not an end', async (t) => {
  const sockets: Socket[] = [];
  const forward = await forwarding(t, (socket) => {
    sockets.push(socket);
    socket.write(`HTTP/1.1 200 OK\r\n\r\n${body}`);
  });
  const slow = await forward('/slow');
  await slow.paused;
  sockets[0]?.resetAndDestroy();
  t.match(await slow.ended, { code: 'ECONNRESET' });
});

t.test('a connection whose last piece met a slow client carries the next response', async (t) => {
  let connections = 0;
  const forward = await forwarding(t, (socket, target) => {
    if (target === '/first') connections += 1;
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${body}`);
  });
  for (const target of ['/first', '/second', '/third']) {
    const each = await forward(target);
    t.equal(await each.ended, body);
  }
  t.equal(connections, 1);
});

interface Forwarded {
  /** A piece of the body came, and reading was paused. */
  readonly paused: Promise<void>;
  /** The whole body, or the failure. */
  readonly ended: Promise<string | Error>;
  readonly resume: () => void;
}

/** Requests to an upstream over one client whose every piece of a body is one too many. */
async function forwarding(
  t: Test,
  respond: (socket: Socket, target: string) => void,
): Promise<(target: string) => Promise<Forwarded>> {
  const upstream = createServer((socket) => {
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('data', (head) => respond(socket, head.toString().split(' ')[1] ?? ''));
  });
  const client = await openUndici(t, `http://127.0.0.1:${await listen(t, upstream)}`);
  let forwarded: (result: Forwarded) => void = () => undefined;
  const front = createHttpServer((request, response) => forwarded(send(client, request, response)));
  const port = await listen(t, front);
  return (target) =>
    new Promise((resolve, reject) => {
      forwarded = resolve;
      fetch(`http://127.0.0.1:${port}${target}`).catch(() => undefined);
      setTimeout(reject, 20_000, new Error('the request did not come')).unref();
    });
}

function send(client: UpstreamClient, request: IncomingMessage, response: ServerResponse): Forwarded {
  let inFlight: InFlightRequest | undefined;
  let text = '';
  let pause: () => void = () => undefined;
  const paused = new Promise<void>((resolve) => (pause = resolve));
  const ended = new Promise<string | Error>((resolve) => {
    const end = (result: string | Error): void => {
      response.destroy();
      resolve(result);
    };
    const handler: ResponseHandler = {
      leaveQueue: null,
      network: '',
      onReserved: () => undefined,
      mayStillSend: () => true,
      sending: (each) => {
        inFlight = each;
        return true;
      },
      onEarlyHints: () => undefined,
      onUnanswered: () => false,
      onHead: () => undefined,
      onBody: (chunk) => {
        text += chunk.toString();
        pause();
        return false;
      },
      onEnd: () => end(text),
      onFailure: end,
      onRefused: end,
    };
    const outgoing = {
      method: 'GET',
      target: request.url ?? '',
      headers: ['host', 'upstream'],
      body: null,
      admittedAs: admitted('a', 'a', 'a'),
    };
    client.send(outgoing, handler);
  });
  return { paused, ended, resume: () => inFlight?.resume() };
}

async function listen(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}
