// class: app
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { requestText } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream, startUpstream } from '../support/upstreams.ts';

const timeouts = { connectMs: 300, headersMs: 5_000, bodyMs: 5_000 };

t.test('a client that leaves takes its request with it, wherever that is', async (t) => {
  const upstream = { open: 0 };
  const { url } = await startRawUpstream(t, () => (request, response) => {
    upstream.open += 1;
    request.on('error', () => undefined);
    response.on('close', () => (upstream.open -= 1));
    if (request.url === '/streaming') response.write('some');
  });
  const { finished, dial, requestOf } = await startGateway(t, { routes: { '/': url } });
  for (const [text, status] of [
    [requestOf('GET', '/waiting'), 499],
    [requestOf('GET', '/streaming'), 200],
    [requestOf('POST', '/sending', [['Content-Length', '100000']]) + 'some', 499],
  ] as const) {
    const client = await dial(text);
    await eventually(() => upstream.open === 1, 'the request');
    if (status === 200) await client.until(() => client.text.includes('some'));
    client.socket.destroy();
    await eventually(() => upstream.open === 0, 'its end');
    await eventually(() => finished.at(-1)?.code === 'client_gone', 'the record');
    t.equal(finished.at(-1)?.status, status);
  }
  t.equal(finished.length, 3);
});

t.test('a response that breaks off is cut, never ended as if it were whole', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.includes('/chunked'))
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n');
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nsome');
    setTimeout(() => socket.destroy(), 50);
  });
  const { finished, dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const target of ['/chunked', '/long']) {
    const client = await dial(requestOf('GET', target));
    await t.rejects(client.response(), /connection closed/, target);
    t.match(client.text, /some/);
    t.notMatch(client.text, /\r\n0\r\n/);
    t.match(finished.at(-1), { status: 200, code: 'cut_by_upstream' });
  }
});

t.test('a short response that breaks off is 502: nothing of it was sent yet', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsome');
  });
  const { call } = await startGateway(t, { routes: { '/': upstream.url } });
  t.equal((await call('GET', '/')).status, 502);
});

t.test('what is said before the end of a body reaches the client, whose connection goes on', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.startsWith('POST /reset')) return void socket.resetAndDestroy();
    const status = head.startsWith('POST') ? '413 Content Too Large' : '200 OK';
    socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 4\r\n\r\nsaid`);
  });
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  // The gateway itself would close the connection of a client with more than 64 KB to come.
  for (const [path, write, length, status] of [
    ['/', requestOf, 100_000, 413],
    ['/reset', requestOf, 60_000, 502],
    ['/', requestText, 60_000, 401],
  ] as const) {
    const head = write('POST', path, { 'Content-Length': String(length) });
    const client = await dial(head + 'x'.repeat(1000));
    t.equal((await client.response('POST')).status, status);
    client.send('x'.repeat(length - 1000) + requestOf('GET', '/'));
    t.equal((await client.response()).status, 200);
  }
});

t.test('an upstream that falls silent is 504 before its head and in a short response', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.includes('/half')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsome');
    if (head.includes('/streaming')) socket.write('HTTP/1.1 200 OK\r\n\r\nsome');
  });
  const time = new ManualTime();
  const { call, dial, requestOf, finished } = await startGateway(t, { routes: { '/': upstream.url }, time });
  for (const target of ['/silent', '/half']) {
    const response = await time.until(call('GET', target));
    t.match(response, { status: 504, code: 'upstream_timeout' }, target);
    t.ok(response.headers['x-service-resolved-tenant']);
  }
  const client = await dial(requestOf('GET', '/streaming'));
  await client.until(() => client.text.includes('some'));
  await time.until(client.end());
  t.match(finished.at(-1), { code: 'cut_by_upstream' });
});

t.test('a request that gets no connection is rejected, and is not sent later', async (t) => {
  const responses: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => responses.push(() => response.end('late')));
  const time = new ManualTime();
  const { call, directory, finished, usage } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 1, timeouts } },
    time,
  });
  const first = call('GET', '/first');
  await eventually(() => responses.length === 1, 'the first request');
  const body = 'body';
  t.match(await time.until(call('POST', '/second', { body })), { status: 429, code: 'too_many_requests' });
  const { key } = directory.addParent();
  t.match(await time.until(call('POST', '/second', { key, body })), { status: 503, code: 'overloaded' });
  responses[0]?.();
  t.equal((await first).body, 'late');
  const third = call('GET', '/third');
  await eventually(() => responses.length === 2, 'the third request');
  responses[1]?.();
  t.equal((await third).status, 200);
  t.strictSame(
    upstream.received.map(({ target }) => target),
    ['/first', '/third'],
  );
  t.equal(upstream.connections, 1, 'a request given up in the queue costs no connection');
  t.same([finished.length, usage.length], [4, 2], 'nor does it count');
});

t.test('an upstream that accepts no connection is 504 in time', async (t) => {
  const listening = "require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }";
  const program = `${listening}, function () { console.log(this.address().port) })`;
  const stopped = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => stopped.kill('SIGKILL'));
  const [line] = (await once(stopped.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  stopped.kill('SIGSTOP');
  // The system accepts a few connections for a process that does not; later ones get no reply.
  for (let i = 0; i < 4; i++) {
    const filler = connect(port, '127.0.0.1').on('error', () => undefined);
    t.teardown(() => filler.destroy());
  }
  const silent = await startTcpUpstream(t, () => undefined);
  const time = new ManualTime();
  const { call, finished } = await startGateway(t, {
    routes: {
      '/full': { upstream: `http://127.0.0.1:${port}`, timeouts },
      '/no-tls': { upstream: `https://127.0.0.1:${silent.port}`, timeouts },
    },
    time,
  });
  for (const target of ['/full', '/no-tls']) {
    t.match(await time.until(call('GET', target)), { status: 504, code: 'upstream_timeout' }, target);
    t.ok((finished.at(-1)?.durationMs ?? Infinity) < timeouts.headersMs, 'before the others would');
  }
});

t.test('one tenant cannot take every place', async (t) => {
  const responses: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => responses.push(() => response.end('ok')));
  const { call, directory, parent, finished, usage } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { inFlightPerTenant: 2 },
  });
  const other = directory.addParent();
  const child = directory.addSubAccount(parent);
  const held = [call('GET', '/'), call('GET', '/')];
  await eventually(() => responses.length === 2, 'two requests');
  const rejected = await call('GET', '/');
  t.match(rejected, { status: 429, code: 'too_many_requests' });
  t.equal(rejected.headers['retry-after'], '1');
  held.push(
    call('GET', '/', { key: other.key }),
    call('GET', '/', { headers: [['X-Service-Acting-Tenant', child.id]] }),
  );
  await eventually(() => responses.length === 4, 'requests of other tenants');
  for (const response of responses) response();
  for (const response of await Promise.all(held)) t.equal(response.status, 200);
  const again = call('GET', '/');
  await eventually(() => responses.length === 5, 'a slot that was given back');
  responses[4]?.();
  t.equal((await again).status, 200);
  await eventually(() => finished.length === 6, 'the records');
  t.equal(usage.length, 5, 'what was turned away is counted for no tenant');
});
