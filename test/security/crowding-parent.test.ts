// class: app
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import type { Holder } from '../support/memory-directory.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';

const timeouts = { connectMs: 2_000, headersMs: 60_000, bodyMs: 60_000 };

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: uploads of 256 sub-accounts of one parent leave connections for others`, async (t) => {
    const upstream = await startRawUpstream(t, () => (request, response) => {
      if (request.method === 'POST') request.resume();
      else response.end('ok');
    });
    for (const connections of [16, 256]) {
      const { directory, parent, port, call, finished } = await startGateway(t, {
        routes: { '/': { upstream: upstream.url, connections, timeouts, client } },
      });
      const before = upstream.heads;
      const text = (child: Holder): string =>
        requestText('POST', '/', [...as(parent, child), ['Content-Length', '20000']]).concat('a');
      const clients: RawClient[] = [];
      for (let i = 0; i < 256; i++)
        clients.push((await rawClient(t, port)).send(text(directory.addSubAccount(parent))));
      const held = (3 / 4) * connections;
      await eventually(() => upstream.heads - before >= held, 'the part of the parent');
      const other = directory.addParent();
      const took: number[] = [];
      for (let i = 0; i < 20; i++) {
        const began = performance.now();
        t.equal((await call('GET', '/', { key: other.key })).status, 200, 'another parent is served');
        took.push(performance.now() - began);
      }
      t.comment(`${connections} connections: ${Math.max(...took).toFixed(0)} ms at most`);
      t.equal(upstream.heads - before, held + 20, 'it holds three quarters');
      for (const { socket } of clients) socket.destroy();
      await eventually(() => finished.filter(({ method }) => method === 'POST').length === 256, 'their ends');
    }
  });
}

t.test('WebSockets of 16 sub-accounts of one parent leave places for others', async (t) => {
  const accept =
    'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
  const upstream = await startTcpUpstream(t, (socket) =>
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${accept}\r\n\r\n`),
  );
  const { directory, parent, port } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, webSockets: 16 } },
  });
  const open = async (headers: Headers): Promise<number> => {
    const client = await rawClient(t, port);
    client.send(requestText('GET', '/', [...headers, ...upgrade]));
    await client.until(() => client.text.includes('\r\n\r\n'));
    return Number(client.text.split(' ')[1]);
  };
  const statuses: number[] = [];
  for (let i = 0; i < 16; i++) statuses.push(await open(as(parent, directory.addSubAccount(parent))));
  t.strictSame(statuses, [...Array<number>(12).fill(101), ...Array<number>(4).fill(429)]);
  t.equal(await open(by(directory.addParent())), 101);
});

t.test('requests in flight of many sub-accounts of one parent leave places for others', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    if (request.url === '/slow') request.resume();
    else response.end('ok');
  });
  const { directory, parent, port, call } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 256 } },
    limits: { maxConnections: 100, inFlightPerTenant: 20 },
  });
  const children = Array.from({ length: 10 }, () => directory.addSubAccount(parent));
  const clients: RawClient[] = [];
  for (let i = 0; i < 80; i++) {
    const child = children[i % children.length] as Holder;
    clients.push((await rawClient(t, port)).send(requestText('GET', '/slow', as(parent, child))));
  }
  const refused = (): number => clients.filter(({ text }) => text.includes('too_many_requests')).length;
  await eventually(() => upstream.heads + refused() === 80);
  // As much as divides evenly among ten: what is left of three quarters is for sub-accounts that have none.
  t.ok(upstream.heads <= 75 && upstream.heads > 65, `${upstream.heads} of 100`);
  t.equal((await call('GET', '/', { key: directory.addParent().key })).status, 200);
});

const upgrade = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
] as const;

type Headers = readonly (readonly [string, string])[];

function by({ key }: Holder): Headers {
  return [['Authorization', `Bearer ${key}`]];
}

function as(parent: Holder, { id }: Holder): Headers {
  return [...by(parent), ['X-Service-Acting-Tenant', id]];
}
