// class: hostile
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import t from 'tap';
import type { BodySink } from '../../src/proxy/upstream/message-head.ts';
import { certificate } from '../support/config-certificates.ts';
import { eventually, standstill, startGateway } from '../support/gateway.ts';
import { noGo, noPython, startGoUpstream, startPythonUpstream } from '../support/foreign-upstreams.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import type { Scope } from '../support/servers.ts';
import { upstreamClient } from '../support/upstream-client-option.ts';
import { ask, openConnections } from '../support/upstream-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';

const megabytes = 1024 * 1024;

/** What became of uploads of 8 MiB that are answered 413 at once: outcomes, and how often. */
async function uploads(t: Scope, url: string, framing: 'length' | 'chunks'): Promise<Record<string, number>> {
  const { port, parent, finished } = await startGateway(t, { routes: { '/': url } });
  const piece = Buffer.alloc(64 * 1024, 'x');
  const upload = async (): Promise<void> => {
    const client = await rawClient(t, port);
    const length = ['Content-Length', String(8 * megabytes)] as const;
    const said = framing === 'length' ? length : (['Transfer-Encoding', 'chunked'] as const);
    client.send(requestText('POST', '/refused', [['Authorization', `Bearer ${parent.key}`], said]));
    for (let sent = 0; sent < 8 * megabytes && client.text === '' && !client.closed; sent += piece.length) {
      if (framing === 'chunks') client.send('10000\r\n').send(piece).send('\r\n');
      else client.send(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    client.socket.destroy();
  };
  for (let round = 0; round < 5; round += 1) await Promise.all(Array.from({ length: 5 }, upload));
  await eventually(() => finished.length === 25, 'the records');
  const outcomes: Record<string, number> = {};
  for (const { status, code, bytesOut } of finished) {
    const what = `${status} ${code ?? 'whole'}, ${bytesOut} bytes`;
    outcomes[what] = (outcomes[what] ?? 0) + 1;
  }
  return outcomes;
}

const refused = { '413 whole, 16 bytes': 25 };

for (const version of ['HTTP/1.0', 'HTTP/1.1'] as const)
  t.test(
    `a 413 that http.server sends and closes gets through (${version})`,
    { skip: noPython },
    async (t) => {
      const url = await startPythonUpstream(t, version);
      t.strictSame(await uploads(t, url, 'length'), refused, 'with a length');
      if (version === 'HTTP/1.1') t.strictSame(await uploads(t, url, 'chunks'), refused, 'in chunks');
    },
  );

t.test('a 413 that Go sends and closes gets through', { skip: noGo }, async (t) => {
  const url = await startGoUpstream(t);
  t.strictSame(await uploads(t, url, 'length'), refused, 'with a length');
  t.strictSame(await uploads(t, url, 'chunks'), refused, 'in chunks');
});

t.test('a 413 that Node sends and closes gets through', async (t) => {
  const { url } = await startRawUpstream(t, () => (_request, response) => {
    response.writeHead(413, { connection: 'close', 'content-length': 16 }).end('too large for me');
  });
  t.strictSame(await uploads(t, url, 'length'), refused, 'with a length');
  t.strictSame(await uploads(t, url, 'chunks'), refused, 'in chunks');
});

interface PausedUpload {
  readonly send: (text: string) => void;
  readonly reset: () => void;
}

/** A server that reads the first bytes of a connection, and no more. */
async function startPausing(t: Scope, over: 'TCP' | 'TLS') {
  const uploads: PausedUpload[] = [];
  // With a delay, the response would still be on this side when the reset discards it.
  const server = createServer({ noDelay: true }, (socket) => {
    const stream = over === 'TCP' ? socket : new TLSSocket(socket, { isServer: true, ...certificate.a });
    stream.on('error', () => undefined);
    stream.once('data', () => {
      stream.pause();
      uploads.push({ send: (text) => void stream.write(text), reset: () => void socket.resetAndDestroy() });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `${over === 'TCP' ? 'http' : 'https'}://localhost:${port}`, uploads };
}

for (const over of ['TCP', 'TLS'] as const)
  t.test(`a response that came before a write that failed is read to its end (${over})`, async (t) => {
    const { url, uploads } = await startPausing(t, over);
    const { connections } = openConnections(t, url);
    let sink: BodySink | undefined;
    const body = { length: megabytes, start: (to: BodySink) => (sink = to), resume: () => undefined };
    const response = ask(connections, '/', body);
    await eventually(() => uploads.length === 1);
    // All of it in one tick, so that the gateway writes before it could read.
    uploads[0]?.send('HTTP/1.1 413 Too Large\r\nContent-Length: 16\r\n\r\ntoo large for me');
    uploads[0]?.reset();
    for (let i = 0; i < 3; i += 1) sink?.write(Buffer.alloc(1000));
    t.equal(await response, 'too large for me');
  });

/** Responds to an upload that it does not read, once it has come to a standstill, and closes as `hangUp` does. */
async function respondAndClose(
  t: Scope,
  reply: string,
  hangUp: (socket: Socket) => unknown,
): Promise<{ readonly text: string; readonly code: string | null | undefined }> {
  let upload: Socket | undefined;
  const upstream = await startTcpUpstream(t, (socket) => (upload = socket.pause()));
  const { port, parent, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  client.send(
    requestText('POST', '/', [
      ['Authorization', `Bearer ${parent.key}`],
      ['Content-Length', String(64 * megabytes)],
    ]),
  );
  for (let sent = 0; sent < 32; sent += 1) client.send(Buffer.alloc(megabytes));
  await standstill(() => client.socket.bytesWritten - client.socket.writableLength);
  upload?.write(reply, 'latin1');
  hangUp(upload as Socket);
  await eventually(() => finished.length === 1, 'the record');
  await client.end();
  return { text: client.text, code: finished[0]?.code };
}

const destroy = (socket: Socket): unknown => socket.destroy();
const finThenReset = (socket: Socket): unknown => socket.end(() => socket.destroy());

t.test('a response that a reset may have cut is cut for the client, never complete', async (t) => {
  const head = 'HTTP/1.1 413 Too Large\r\n';
  const body = 'y'.repeat(100_000);
  const withoutLength = ['no length', `${head}\r\n${body}`] as const;
  for (const [what, reply] of [
    // undici takes it for complete: docs/upstreams.md says so.
    ...(upstreamClient === 'native' ? [withoutLength] : []),
    ['less than its length', `${head}Content-Length: 100001\r\n\r\n${body}`],
    ['no last chunk', `${head}Transfer-Encoding: chunked\r\n\r\n${(100_000).toString(16)}\r\n${body}\r\n`],
  ] as const) {
    const { text, code } = await respondAndClose(t, reply, destroy);
    t.equal(code, 'cut_by_upstream', what);
    t.ok(text.startsWith('HTTP/1.1 413 '), what);
    t.notMatch(text, /\r\n0\r\n\r\n$/, what);
  }
  const { code } = await respondAndClose(t, `${head}\r\n${body}`, finThenReset);
  t.equal(code, null, 'complete where the upstream had ended its side first');
});
