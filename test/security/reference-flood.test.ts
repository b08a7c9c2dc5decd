// class: app, alone
/** Strangers who ask for the API reference, which needs no key: what one takes from others without reading anything. */
import type { Socket } from 'node:net';
import t from 'tap';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.ts';
import { bytesInUse } from '../support/memory.ts';
import { rawClient, requestText, tlsClient } from '../support/raw-client.ts';
import type { Scope } from '../support/servers.ts';
import { startRawUpstream } from '../support/upstreams.ts';

const page = '/v1/sub-accounts/docs';
const clients = 10;
/** Bytes that both ends of a connection may take: the client reads 64 KB ahead, and the page has 450 KB. */
const mostEach = 200_000;
/** Bytes that a socket may have been handed and not sent. */
const mostHandedOver = 40_000;

for (const tls of [undefined, certificate.a]) {
  t.test(`clients that read nothing make no copy of the page${tls ? ', by TLS' : ''}`, async (t) => {
    const { gateway, peers } = await started(t, tls && { tls });
    const connect = () => (tls ? tlsClient(t, gateway.port, tls.cert) : rawClient(t, gateway.port));
    const first = (await connect()).send(requestText('GET', page));
    t.ok((await first.response()).body.length > 400_000, 'the page has been made');
    peers.length = 0;
    const before = bytesInUse();
    for (let i = 0; i < clients; i++) {
      const client = await connect();
      client.socket.pause();
      // The operating system takes the first of them.
      client.send(requestText('GET', page).repeat(30));
    }
    const waiting = (): number => peers.filter(({ writableLength }) => writableLength > 0).length;
    await eventually(() => waiting() === clients, 'a response that waits on each connection');
    const each = (bytesInUse() - before) / clients;
    const handedOver = Math.max(...peers.map(({ writableLength }) => writableLength));
    t.ok(handedOver < mostHandedOver, `${handedOver} bytes for the socket, of which TLS makes a copy`);
    t.ok(each < mostEach, `${Math.round(each)} bytes a connection`);
    t.comment(`${Math.round(each)} bytes a connection`);
    const other = (await connect()).send(requestText('GET', '/', [key(gateway)]));
    t.equal((await other.response()).status, 200, 'others are served');
  });
}

t.test('strangers are shed by their network, and callers with a key are served', async (t) => {
  const { gateway } = await started(t, {
    limits: { maxEventLoopDelayMs: 100 },
    trustedProxies: ['127.0.0.1'],
    pressure: () => ({ delayMs: 200, heapBytes: 0, memoryBytes: 0 }),
  });
  const ask = async (network: string): Promise<number> =>
    (await gateway.call('HEAD', page, { key: null, headers: [['X-Forwarded-For', network]] })).status;
  const statuses: number[] = [];
  for (const giveUp = Date.now() + 30_000; !statuses.includes(503) && Date.now() < giveUp;)
    statuses.push(...(await Promise.all(Array.from({ length: 20 }, () => ask('192.0.2.1')))));
  t.ok(statuses.includes(503), 'a network that asks for more than its share');
  t.equal(await ask('198.51.100.1'), 200, 'another network has a share of its own');
  for (let i = 0; i < 20; i++) t.equal((await gateway.call('GET', '/')).status, 200);
});

async function started(t: Scope, options: Partial<GatewayOptions> = {}) {
  const upstream = await startRawUpstream(t, () => (_request, response) => response.end());
  const gateway = await startGateway(t, { routes: { '/': upstream.url }, ...options });
  const peers: Socket[] = [];
  gateway.server.on(options.tls ? 'secureConnection' : 'connection', (socket: Socket) => peers.push(socket));
  return { gateway, peers };
}

function key({ parent }: TestGateway): [string, string] {
  return ['Authorization', `Bearer ${parent.key}`];
}
