// class: app
import { setImmediate, setTimeout } from 'node:timers/promises';
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient } from '../support/raw-client.ts';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';

t.test('a body that stops coming is given up, on both sides', async (t) => {
  let aborted = false;
  const upstream = await startRawUpstream(t, () => (request) => {
    request.on('error', () => undefined).on('close', () => (aborted = !request.complete));
    request.resume();
  });
  const { port, parent, finished } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { bodyIdleMs: 200 },
  });
  const client = await rawClient(t, port);
  client.send(
    `POST / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer ${parent.key}\r\nContent-Length: 100000\r\n\r\nsome`,
  );
  const response = await client.response('POST');
  t.equal(response.status, 408);
  t.equal(response.json().code, 'request_timeout');
  await eventually(() => aborted, 'the end of the upstream request');
  t.match(finished, [{ status: 408, code: 'request_timeout', bytesIn: 4 }]);
});

t.test('a short body that stops coming never gets to the upstream', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent, finished } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { bodyIdleMs: 200 },
  });
  const client = await rawClient(t, port);
  client.send(
    `POST / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer ${parent.key}\r\nContent-Length: 100\r\n\r\nsome`,
  );
  t.equal((await client.response('POST')).status, 408);
  t.equal(upstream.connections, 0);
  t.match(finished, [{ status: 408, bytesIn: 4 }]);
});

t.test('a body that keeps coming is not, even if it takes long', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { bodyIdleMs: 300 },
  });
  const client = await rawClient(t, port);
  for (const pieces of [20, 20_000]) {
    client.send(
      `POST / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer ${parent.key}\r\nContent-Length: ${pieces}\r\n\r\n`,
    );
    let sent = 0;
    const dripping = setInterval(() => {
      client.send('x'.repeat(pieces / 20));
      if (++sent === 20) clearInterval(dripping);
    }, 30);
    t.teardown(() => clearInterval(dripping));
    t.equal((await client.response('POST')).status, 200);
    t.equal(upstream.received.at(-1)?.body.length, pieces);
  }
});

t.test('nor is one that came in time while the gateway stood still', async (t) => {
  const upstream = await startUpstream(t);
  const bodyIdleMs = 3_000;
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url }, limits: { bodyIdleMs } });
  const client = await rawClient(t, port);
  client.send(
    `POST / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer ${parent.key}\r\nContent-Length: 200000\r\n\r\n`,
  );
  client.send('x'.repeat(100_000));
  await eventually(() => upstream.heads === 1, 'the request');
  // It has been looked at once before, and after the stall timers run before anything is read.
  await setTimeout(bodyIdleMs / 2);
  await setImmediate();
  client.send('x'.repeat(100_000));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, bodyIdleMs + 500);
  t.equal((await client.response('POST')).status, 200);
  t.equal(upstream.received.at(-1)?.body.length, 200_000);
});

t.test('a client that does not read its response is given up, on both sides', async (t) => {
  let closed = false;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    response.on('close', () => (closed = true));
    const chunk = Buffer.alloc(64 * 1024);
    const write = (): void => {
      while (!closed && response.write(chunk));
    };
    response.on('drain', write);
    write();
  });
  const { port, parent, finished } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { bodyIdleMs: 200 },
  });
  const client = await rawClient(t, port);
  client.send(`GET / HTTP/1.1\r\nHost: gateway.test\r\nAuthorization: Bearer ${parent.key}\r\n\r\n`);
  await client.until(() => client.text.length > 0);
  client.socket.pause();
  await eventually(() => closed, 'the end of the upstream response');
  t.match(finished, [{ status: 200, code: 'request_timeout' }]);
});

t.test('nothing is read without end from a client that was rejected', async (t) => {
  const upstream = await startUpstream(t);
  const { port } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send('POST / HTTP/1.1\r\nHost: gateway.test\r\nContent-Length: 1000000000\r\n\r\n');
  t.equal((await client.response('POST')).status, 401);
  const chunk = Buffer.alloc(64 * 1024);
  const sending = setInterval(() => client.send(chunk), 1);
  t.teardown(() => clearInterval(sending));
  await client.end();
  t.ok(client.closed);
});
