// class: app
/** One network opens as many connections as it can. Others still get theirs, and nothing that is of use is ended for them. */
import t from 'tap';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { preflight, rawClient, requestText, tlsClient, type RawClient } from '../support/raw-client.ts';
import type { Scope } from '../support/servers.ts';
import { startTcpUpstream } from '../support/upstreams.ts';
import { consent, handshake } from '../support/websockets.ts';

const most = 64;
/** What one network gets: an eighth is kept for those with few. */
const usual = 56;
const [crowd, proxy] = ['127.0.0.9', '127.0.0.8'];

/** A gateway whose upstream streams events, agrees to WebSockets, and says nothing to other requests. */
async function started(t: Scope, options: { readonly tls?: boolean; readonly time?: ManualTime } = {}) {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.startsWith('GET /w')) socket.write(consent);
    if (head.startsWith('GET /s')) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    if (head.startsWith('GET /now')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  const exchanges = new ActiveExchanges();
  const gateway = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, preflight: 'pass' } },
    limits: { maxConnections: most },
    trustedProxies: [proxy],
    exchanges,
    ...(options.tls && { tls: certificate.a }),
    ...(options.time && { time: options.time }),
  });
  return { ...gateway, upstream, exchanges };
}

const open = (clients: readonly RawClient[]): number => clients.filter(({ closed }) => !closed).length;

async function crowded(
  t: Scope,
  port: number,
  bytes: (n: number) => string,
  clients = 100,
): Promise<RawClient[]> {
  const opened: RawClient[] = [];
  for (let i = 0; i < clients; i++) opened.push((await rawClient(t, port, crowd)).send(bytes(i)));
  await eventually(() => open(opened) <= most, 'as many as there may be');
  return opened;
}

const withoutKey = requestText('GET', '/');
const held: readonly (readonly [what: string, bytes: string])[] = [
  ['nothing sent', ''],
  ['unfinished heads', 'GET / HT'],
  ['connections kept after a 401', withoutKey],
  ['bodies that are discarded', requestText('POST', '/', [['Content-Length', '1000']])],
  ['preflights that are never answered', requestText('OPTIONS', '/', preflight)],
  ['a document that nobody reads', requestText('GET', '/v1/sub-accounts/docs').repeat(4)],
];

for (const [what, bytes] of held) {
  t.test(`a network that holds all connections leaves room: ${what}`, async (t) => {
    const { port, call } = await started(t);
    const clients = await crowded(t, port, () => bytes);
    for (let i = 0; i < 20; i++) t.equal((await call('GET', '/now')).status, 200);
    t.ok(open(clients) >= usual - 20, 'each takes the place of one at most');
  });
}

t.test('a network that holds all connections leaves room: TLS handshakes', async (t) => {
  const { port, requestOf } = await started(t, { tls: true });
  await crowded(t, port, () => '\x16');
  for (let i = 0; i < 20; i++) {
    const client = await tlsClient(t, port, certificate.a.cert);
    t.equal((await client.send(requestOf('GET', '/now')).response()).status, 200);
  }
});

t.test('streams, WebSockets and requests of known callers are ended for nobody', async (t) => {
  const { directory, port, requestOf, upstream } = await started(t);
  const keep = (n: number): string => {
    const { key } = directory.addParent();
    if (n % 3 === 0) return requestText('GET', '/w', handshake(key));
    return requestText('GET', n % 3 === 1 ? '/s' : '/', [['Authorization', `Bearer ${key}`]]);
  };
  const clients = await crowded(t, port, keep, usual);
  await eventually(() => upstream.heads === usual);
  const late = await rawClient(t, port, crowd);
  await late.end();
  for (let i = 0; i < 20; i++) {
    const other = await rawClient(t, port, '127.0.0.7');
    t.equal((await other.send(requestOf('GET', '/now')).response()).status, 200, 'its idle ones make room');
  }
  t.equal(open(clients), usual);
});

t.test('behind a trusted proxy, the clients that it names count, not the proxy', async (t) => {
  const time = new ManualTime();
  const { port, exchanges } = await started(t, { time });
  const named = async (client: string, count: number): Promise<RawClient[]> => {
    const headers = { ...preflight, 'X-Forwarded-For': client };
    const opened: RawClient[] = [];
    for (let i = 0; i < count; i++)
      opened.push((await rawClient(t, port, proxy)).send(requestText('OPTIONS', '/', headers)));
    return opened;
  };
  const [few, many] = [await named('192.0.2.1', 8), await named('192.0.2.2', 46)];
  await eventually(() => exchanges.size === 54, 'all requests');
  await time.advance(1_000);
  const more = await named('192.0.2.3', 20);
  await eventually(() => open(many) <= 36, 'room');
  t.strictSame([open(few), open(more)], [8, 20]);
});
