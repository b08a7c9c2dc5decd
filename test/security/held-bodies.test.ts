// class: app, alone
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { BodyReader, ClientRequest } from '../../src/http/client-request.ts';
import t from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import { Shares } from '../../src/limits/shares.ts';
import { BufferedBody } from '../../src/proxy/body/buffered-body.ts';
import { StreamedBody } from '../../src/proxy/body/streamed-body.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import type { Holder } from '../support/memory-directory.ts';
import { requestText, type RawClient } from '../support/raw-client.ts';
import { startTcpUpstream } from '../support/upstreams.ts';

const pieceBytes = 250_000;
const piece = `${pieceBytes.toString(16)}\r\n${'x'.repeat(pieceBytes)}\r\n`;
/** A tenant alone has half of the 64 MiB that bodies have together. */
const mostHeld = (32 * 1024 * 1024) / pieceBytes;

t.test('bodies of one key that are held and stand still leave memory, and room for others', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.end('HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  const { directory, parent, call, finished, dial } = await startGateway(t, {
    routes: { '/': upstream.url },
  });
  t.equal((await call('GET', '/')).status, 200);
  const upload = ({ key }: Holder): Promise<RawClient> =>
    dial(
      requestText('POST', '/', { Authorization: `Bearer ${key}`, 'Transfer-Encoding': 'chunked' }) + piece,
    );
  const all = 200;
  const clients: RawClient[] = [];
  for (let i = 0; i < all; i++) clients.push(await upload(parent));
  const refused = (): number => finished.filter(({ code }) => code === 'overloaded').length;
  await eventually(() => refused() >= all - mostHeld, 'what has no room is refused');
  const other = await upload(directory.addParent());
  t.equal((await other.send('0\r\n\r\n').response('POST')).status, 200, 'another parent has room');
  t.ok(refused() < all, 'some are held');
  for (const { socket } of clients) socket.destroy();
  await eventually(() => finished.length === all + 2, 'their ends');
  const again = await upload(parent);
  t.equal((await again.send('0\r\n\r\n').response('POST')).status, 200, 'room is given back');
});

t.test('a body in pieces of a byte takes little more memory than its bytes', async (t) => {
  const bytes = 200_000;
  let held = 0;
  let reading: BodyReader | undefined;
  const body = new BufferedBody(
    {
      readBody: (reader: BodyReader) => (reading = reader),
      endBody: () => undefined,
    } as unknown as ClientRequest,
    new Shares(),
    { resolvedTenant: 'a', parentTenant: 'a' as AccountId },
    {
      onBuffered: ({ length }) => (held = length),
      onNotHeld: () => t.fail('it has room'),
      broke: (error) => t.error(error),
    },
  );
  body.start();
  const before = inUse();
  for (let i = 0; i < bytes; i++) {
    reading?.onBytes(Buffer.from('x'));
    if (i % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await eventually(() => body.bytes === bytes);
  // Other tests of this process may not have released everything yet.
  let grown = Infinity;
  await eventually(() => (grown = inUse() - before) < 4_000_000, 'it takes little memory');
  t.ok(grown < 4_000_000, `${grown} bytes`);
  reading?.onBodyEnd();
  await eventually(() => held === bytes);
});

/** Bytes of the heap and of buffers that are alive. */
function inUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

t.test('a body keeps its share until it goes out or is dropped', (t) => {
  for (const end of ['sent', 'dropped']) {
    const shares = new Shares();
    const request = {
      readBody: () => undefined,
      pauseBody: () => undefined,
      endBody: () => undefined,
    } as unknown as ClientRequest;
    const handler = {
      onBuffered: () => t.fail('its end'),
      onNotHeld: () => t.fail('it has room'),
      broke: (error: unknown) => t.error(error),
    };
    const tenancy = { resolvedTenant: 'a', parentTenant: 'a' as AccountId };
    const held = new BufferedBody(request, shares, tenancy, handler);
    held.onBytes(Buffer.alloc(1_000));
    const streamed = new StreamedBody(request, undefined, handler, held.handOver());
    t.equal(shares.taken, 1_000, 'while it waits for a connection');
    let sent = 0;
    if (end === 'sent')
      streamed.start({
        write: (piece) => (sent += piece.length) > 0,
        hasSentAll: true,
        end: () => undefined,
      });
    else streamed.destroy();
    t.match([shares.taken, sent, streamed.bytes], [0, end === 'sent' ? 1_000 : 0, 1_000], end);
    streamed.destroy();
    t.equal(shares.taken, 0);
  }
  t.end();
});
