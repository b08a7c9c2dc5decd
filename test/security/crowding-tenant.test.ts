// class: app
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import type { Holder } from '../support/memory-directory.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';
import { consent, handshake } from '../support/websockets.ts';

const connections = 8;
const greedy = 3 * connections;

t.test('uploads and downloads of one tenant that stand still leave connections for the others', async (t) => {
  const upstream = await startRawUpstream(t, () => (request, response) => {
    if (request.method === 'POST') return;
    if (request.url === '/large') response.write(Buffer.alloc(4 * 1024 * 1024));
    else response.end('ok');
  });
  const { directory, port, call, requestOf, finished } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections } },
    time: new ManualTime(),
  });
  const { key } = directory.addParent();
  for (const text of [
    `${requestOf('POST', '/upload', [['Content-Length', '1000000']])}a little`,
    requestOf('GET', '/large'),
  ]) {
    const heads = upstream.heads;
    const clients: RawClient[] = [];
    for (let i = 0; i < greedy; i++) {
      const client = await rawClient(t, port);
      client.socket.pause();
      clients.push(client.send(text));
    }
    await eventually(() => upstream.heads === heads + connections / 2, 'its half');
    for (let i = 0; i < 20; i++)
      t.equal((await call('GET', '/', { key })).status, 200, 'another tenant is served');
    t.equal(upstream.heads, heads + connections / 2 + 20, 'it holds half of them');
    for (const { socket } of clients) socket.destroy();
    await eventually(() => finished.filter(({ code }) => code !== null).length >= greedy, 'their ends');
    finished.length = 0;
  }
});

t.test('WebSockets of one tenant leave places for those of the others', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(consent));
  const { directory, parent, dial } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, websockets: 8 } },
  });
  const open = async ({ key }: Holder): Promise<readonly [number, RawClient]> => {
    const client = await dial(requestText('GET', '/', handshake(key)));
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
