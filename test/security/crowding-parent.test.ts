// class: app
import t from 'tap';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { requestText, type RawClient } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';
import { consent, handshake } from '../support/websockets.ts';

for (const client of ['native', 'undici'] as const) {
  t.test(`${client}: uploads of 256 sub-accounts of one parent leave connections for others`, async (t) => {
    const upstream = await startRawUpstream(t, () => (request, response) => {
      if (request.method === 'POST') request.resume();
      else response.end('ok');
    });
    for (const connections of [16, 256]) {
      const { directory, parent, call, finished, dial, requestOf } = await startGateway(t, {
        routes: { '/': { upstream: upstream.url, connections, client } },
        time: new ManualTime(),
      });
      const before = upstream.heads;
      const clients: RawClient[] = [];
      for (let i = 0; i < 256; i++) {
        const child = ['X-Service-Acting-Tenant', directory.addSubAccount(parent).id] as const;
        clients.push(await dial(`${requestOf('POST', '/', [child, ['Content-Length', '20000']])}a`));
      }
      const held = (3 / 4) * connections;
      await eventually(() => upstream.heads - before >= held, 'the part of the parent');
      const { key } = directory.addParent();
      for (let i = 0; i < 20; i++)
        t.equal((await call('GET', '/', { key })).status, 200, 'another parent is served');
      t.equal(upstream.heads - before, held + 20, 'it holds three quarters');
      for (const { socket } of clients) socket.destroy();
      await eventually(() => finished.filter(({ method }) => method === 'POST').length === 256, 'their ends');
    }
  });
}

t.test('WebSockets of 16 sub-accounts of one parent leave places for others', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => socket.write(consent));
  const { directory, parent, dial } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, websockets: 16 } },
  });
  const open = async (headers: [string, string][]): Promise<number> => {
    const client = await dial(requestText('GET', '/', headers));
    await client.until(() => client.text.includes('\r\n\r\n'));
    return Number(client.text.split(' ')[1]);
  };
  const statuses: number[] = [];
  for (let i = 0; i < 16; i++) {
    const { id } = directory.addSubAccount(parent);
    statuses.push(await open([...handshake(parent.key), ['X-Service-Acting-Tenant', id]]));
  }
  t.strictSame(statuses, [...Array<number>(12).fill(101), ...Array<number>(4).fill(429)]);
  t.equal(await open(handshake(directory.addParent().key)), 101);
});
