// class: app
import t from 'tap';
import type { Holder } from '../support/memory-directory.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';

const connections = 8;
const greedy = 3 * connections;
const timeouts = { connectMs: 2_000, headersMs: 60_000, bodyMs: 60_000 };

t.test('uploads and downloads of one tenant that stand still leave connections for the others', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    if (request.method === 'POST') return;
    if (request.url === '/large') response.write(Buffer.alloc(4 * 1024 * 1024));
    else response.end('ok');
  });
  const gateway = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections, timeouts } },
  });
  const { directory, parent, port, call } = gateway;
  const other = directory.addParent();
  for (const text of [
    `${requestText('POST', '/upload', [...by(parent), ['Content-Length', '1000000']])}a little`,
    requestText('GET', '/large', by(parent)),
  ]) {
    const heads = upstream.heads;
    const clients = await holdStill(t, port, text);
    await eventually(() => upstream.heads === heads + connections / 2, 'its half');
    for (let i = 0; i < 20; i++) {
      t.equal((await call('GET', '/', { key: other.key })).status, 200, 'another tenant is served');
    }
    t.equal(upstream.heads, heads + connections / 2 + 20, 'it holds half of them');
    for (const { socket } of clients) socket.destroy();
    const ended = gateway.finished;
    await eventually(() => ended.filter(({ code }) => code !== null).length >= greedy, 'their ends');
    ended.length = 0;
  }
});

t.test('WebSockets of one tenant leave places for those of the others', async (t) => {
  const accept =
    'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
  const upstream = await startTcpUpstream(t, (socket) =>
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${accept}\r\n\r\n`),
  );
  const { directory, parent, port } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, webSockets: 8 } },
  });
  const open = async (holder: Holder): Promise<readonly [number, RawClient]> => {
    const client = await rawClient(t, port);
    client.send(requestText('GET', '/', [...by(holder), ...upgrade]));
    await client.until(() => client.text.includes('\r\n\r\n'));
    return [Number(client.text.split(' ')[1]), client];
  };
  const opened: (readonly [number, RawClient])[] = [];
  for (let i = 0; i < 6; i++) opened.push(await open(parent));
  t.strictSame(
    opened.map(([status]) => status),
    [101, 101, 101, 101, 429, 429],
  );
  const [other, client] = await open(directory.addParent());
  t.equal(other, 101);
  t.equal(upstream.heads, 5);
  client.socket.destroy();
  opened[0]?.[1].socket.destroy();
  let status = 429;
  while (status === 429) [status] = await open(parent);
  t.equal(status, 101, 'places of those that ended are taken again');
});

const upgrade = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
] as const;

function by({ key }: Holder): readonly (readonly [string, string])[] {
  return [['Authorization', `Bearer ${key}`]];
}

/** Clients that send this much, and read nothing. */
async function holdStill(
  t: Parameters<typeof rawClient>[0],
  port: number,
  text: string,
): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  for (let i = 0; i < greedy; i++) {
    const client = await rawClient(t, port);
    client.socket.pause();
    clients.push(client.send(text));
  }
  return clients;
}
