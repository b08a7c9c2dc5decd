// class: app
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { certificate } from '../support/config-certificates.ts';
import { startGateway, type GatewayOptions, startProxied } from '../support/gateway.ts';
import { rawClient, requestText, tlsClient, type RawClient } from '../support/raw-client.ts';
import type { Scope } from '../support/servers.ts';
import { startUpstream } from '../support/upstreams.ts';

/** What a client may send behind a good request, and the status of the response to that, if there is one. */
const tails: Readonly<Record<string, readonly [request: string, tail: string, status: number | null]>> = {
  'a byte behind `Connection: close`': [good('Connection: close'), 'x', null],
  'a line end behind `Connection: close`': [good('Connection: close'), '\r\n', null],
  'much behind `Connection: close`': [good('Connection: close'), 'x'.repeat(1024 * 1024), null],
  'a request behind `Connection: close`': [good('Connection: close'), good(), null],
  'a byte behind HTTP/1.0': [good().replace('HTTP/1.1', 'HTTP/1.0'), 'x', null],
  'a request behind HTTP/1.0': [good().replace('HTTP/1.1', 'HTTP/1.0'), good(), null],
  'a request that is no HTTP': [good(), 'nonsense\r\n\r\n', 400],
  'a malformed header': [good(), `GET / HTTP/1.1\r\nHost: gateway.test\r\nNo Name: 1\r\n\r\n${good()}`, 400],
  'a chunk without a size': [good(), chunked('nothing\r\n\r\n'), 400],
  'a chunk without a size in a later packet': [good(), `${chunked('1\r\na')}LATER nothing`, 400],
  'too long a head': [good(), `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  'half a head': [good(), 'GET / HTTP/1.1\r\nHost: gate', 408],
  'two hosts': [good(), `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${good()}`, 400],
  'a request for a tunnel': [
    good(),
    'CONNECT elsewhere.test:80 HTTP/1.1\r\nHost: elsewhere.test:80\r\n\r\n',
    400,
  ],
};

const large = 'x'.repeat(1024 * 1024);

for (const secure of [false, true]) {
  t.test(`a response is whole, whatever comes behind its request${secure ? ', by TLS' : ''}`, async (t) => {
    const upstream = await startUpstream(t, ({ body }, response) => {
      const length = { 'content-length': String(large.length) };
      // In two halves, and late enough for what comes behind to be there.
      setTimeout(() => response.writeHead(200, length).write(large.slice(0, 1000)), 20);
      setTimeout(() => response.end(large.slice(1000)), 60);
      t.equal(body.toString(), 'body');
    });
    const time = new ManualTime();
    const { port, parent } = await startGateway(t, {
      routes: { '/': upstream.url },
      time,
      ...(secure ? { tls: certificate.a } : {}),
    });
    for (const [name, [request, tail, status]] of Object.entries(tails)) {
      const client = await (secure ? tlsClient(t, port, certificate.a.cert) : rawClient(t, port));
      const heads = upstream.heads;
      const [first = '', later] = (request + tail).replaceAll('KEY', parent.key).split('LATER ');
      client.send(first);
      if (later !== undefined) setTimeout(() => client.send(later), 10);
      const response = await client.response('POST');
      t.equal(response.status, 200, name);
      t.equal(response.body, large, name);
      const behind = status !== null && client.response('POST');
      if (behind) t.equal((await (status === 408 ? time.until(behind) : behind)).status, status, name);
      await client.end();
      t.equal(client.text.split('HTTP/1.1 ').length, status === null ? 2 : 3, `${name}: no more responses`);
      t.equal(upstream.heads, heads + 1, `${name}: nothing behind it was served`);
    }
  });
}

t.test('requests that wait before a malformed one get their responses, in order', async (t) => {
  const { client, key } = await started(t);
  client.send((good() + good() + good() + chunked('x\r\n')).replaceAll('KEY', key).replace('POST', 'PUT'));
  for (let i = 0; i < 3; i += 1) t.equal((await client.response('POST')).status, 200);
  t.equal((await client.response('POST')).status, 400);
  await client.end();
});

t.test('a HEAD that waits, and whose body is malformed, is rejected without a body', async (t) => {
  const { client, key } = await started(t);
  client.send((good() + chunked('x\r\n').replace('POST', 'HEAD')).replaceAll('KEY', key));
  t.equal((await client.response('POST')).status, 200);
  await client.end();
  t.match(client.text, /HTTP\/1\.1 400 [^]*\r\n\r\n$/);
});

t.test('nothing behind the last response is served, though it came in the same packet', async (t) => {
  const { upstream, port, parent } = await startProxied(t);
  for (const last of [good(), offer()]) {
    const client = await rawClient(t, port);
    // Rejected before its body is read, so its connection ends with the response. Node lets that be sent in the middle of
    // the packet: where it has read a piece of the second body.
    const rejected = chunked('4\r\nbody\r\n0\r\n\r\n').replace('POST /', 'POST /%2e%2e/');
    const waiting = chunked('4\r\nbody\r\n0\r\n\r\n');
    client.send((rejected + waiting + last).replaceAll('KEY', parent.key));
    t.equal((await client.response('POST')).status, 400);
    await client.end();
    t.equal(client.text.split('HTTP/1.1 ').length, 2, 'no more responses');
    t.equal(upstream.heads, 0);
  }
});

t.test('a client whose own body is malformed is cut', async (t) => {
  const { client, key } = await started(t);
  client.send(chunked('x\r\n').replaceAll('KEY', key));
  await client.end();
  t.match(client.text, /^(?:HTTP\/1\.1 400 |$)/);
});

async function started(
  t: Scope,
  options: Partial<GatewayOptions> = {},
): Promise<{ client: RawClient; key: string }> {
  const upstream = await startUpstream(t, (_request, response) => setTimeout(() => response.end('done'), 20));
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url }, ...options });
  return { client: await rawClient(t, port), key: parent.key };
}

/** A request that the upstream acts on. */
function good(...headers: string[]): string {
  const lines = headers.map((line): [string, string] => line.split(': ') as [string, string]);
  return requestText('POST', '/', [['Authorization', 'Bearer KEY'], ...lines], 'body');
}

function offer(): string {
  return good('Connection: Upgrade', 'Upgrade: h2c');
}

function chunked(body: string): string {
  return requestText('POST', '/', { Authorization: 'Bearer KEY', 'Transfer-Encoding': 'chunked' }) + body;
}
