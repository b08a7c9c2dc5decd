// class: app
/** One network opens as many connections as it can. Others still get theirs, and nothing that is of use is ended for them. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import { ActiveExchanges } from '../../src/proxy/active-exchanges.ts';
import type { ClientConnection } from '../../src/server/client-connection.ts';
import { ConnectionPlaces } from '../../src/server/connection-places.ts';
import type { Served } from '../../src/server/served.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';
import { certificate } from '../support/config-certificates.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import {
  clientHello,
  preflight,
  rawClient,
  requestText,
  tlsClient,
  type RawClient,
} from '../support/raw-client.ts';
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
  bytes: (n: number) => string | Buffer,
  clients = 100,
  from = crowd,
): Promise<RawClient[]> {
  const opened: RawClient[] = [];
  for (let i = 0; i < clients; i++) opened.push((await rawClient(t, port, from)).send(bytes(i)));
  await eventually(() => open(opened) <= most, 'as many as there may be');
  return opened;
}

const withoutKey = requestText('GET', '/');
const held: readonly (readonly [what: string, bytes: string, from?: string])[] = [
  ['nothing sent', ''],
  ['unfinished heads', 'GET / HT'],
  ['connections kept after a 401', withoutKey],
  ['bodies that are discarded', requestText('POST', '/', [['Content-Length', '1000']])],
  ['preflights that are never answered', requestText('OPTIONS', '/', preflight)],
  ['requests of a trusted proxy that names no clients', requestText('OPTIONS', '/', preflight), proxy],
  ['a document that nobody reads', requestText('GET', '/v1/sub-accounts/docs').repeat(4)],
];

for (const [what, bytes, from] of held) {
  t.test(`a network that holds all connections leaves room: ${what}`, async (t) => {
    const { port, call } = await started(t);
    const clients = await crowded(t, port, () => bytes, 100, from);
    for (let i = 0; i < 20; i++) t.equal((await call('GET', '/now')).status, 200);
    t.ok(open(clients) >= usual - 20, 'each takes the place of one at most');
  });
}

t.test('a network that holds all connections leaves room: TLS handshakes', async (t) => {
  const { port, requestOf } = await started(t, { tls: true, time: new ManualTime() });
  const hello = await clientHello(t);
  const clients = await crowded(t, port, () => hello);
  await eventually(
    () => clients.every(({ closed, text }) => closed || text !== ''),
    'each hello is answered',
  );
  for (let i = 0; i < 20; i++) {
    const client = await tlsClient(t, port, certificate.a.cert);
    t.equal((await client.send(requestOf('GET', '/now')).response()).status, 200);
  }
  await eventually(() => open(clients) < usual, 'some of them make room');
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

/** A connection that counts how often it is looked at. */
class Peer extends EventEmitter {
  readonly remoteAddress: string;
  looks = 0;
  isClosed = false;
  socket = this;
  does: 'none' | 'stranger' | 'kept';

  constructor(remoteAddress: string, does: Peer['does']) {
    super();
    this.remoteAddress = remoteAddress;
    this.does = does;
  }

  get use(): Peer['does'] {
    this.looks += 1;
    return this.does;
  }

  destroy(): void {
    this.isClosed = true;
  }
}

/** Places for 800 connections, 700 of which one network has. */
function full(does: (n: number) => Peer['does']) {
  const closed: string[] = [];
  const served = {
    limits: { maxConnections: 800 },
    application: { addressOf: ({ socket }: { socket: Peer }) => socket.remoteAddress },
  };
  const places = new ConnectionPlaces(served as unknown as Served, (what) => closed.push(what));
  const enter = (network: string, does: Peer['does'] = 'none'): Peer => {
    const peer = new Peer(network, does);
    places.enter(peer as unknown as Socket);
    places.serve(peer as unknown as Socket, peer as unknown as ClientConnection);
    return peer;
  };
  const peers = Array.from({ length: 700 }, (_, n) => enter(crowd, does(n)));
  const looks = (): number => peers.reduce((sum, { looks }) => sum + looks, 0);
  const fill = (from: number): void => {
    for (let n = 0; n < 100; n++) enter(`192.0.2.${from + n}`, 'kept');
  };
  return { places, closed, enter, peers, looks, fill };
}

t.test('newcomers together look at each connection about once between two checks', (t) => {
  const { places, closed, enter, peers, looks, fill } = full((n) => (n % 7 === 6 ? 'kept' : 'stranger'));
  fill(0);
  t.equal(looks(), 0);
  enter('198.51.100.1', 'kept');
  const first = looks();
  t.ok(first < 800, `${first} looks`);
  for (let n = 2; n <= 100; n++) enter(`198.51.100.${n}`, 'kept');
  t.ok(looks() - first < 100 * 40, `${looks() - first} looks`);
  t.strictSame(closed, Array(100).fill('stranger'));
  const strangers = peers.filter(({ does }) => does === 'stranger');
  t.ok(
    strangers.slice(-100).every(({ isClosed }) => isClosed),
    'the youngest',
  );
  t.equal(peers.filter(({ isClosed }) => isClosed).length, 100);
  (strangers[20] as Peer).does = 'none';
  places.check();
  enter('203.0.113.1');
  t.ok(strangers[20]?.isClosed, 'after a check, one that is idle now is found');
  t.equal(closed.at(-1), 'idle');
  t.end();
});

t.test('who has nothing to give up is looked at once between two checks', (t) => {
  const { closed, enter, looks, fill } = full(() => 'kept');
  fill(0);
  for (let n = 1; n <= 100; n++) t.ok(enter(`198.51.100.${n}`).isClosed);
  t.ok(looks() < 800, `${looks()} looks`);
  t.strictSame(closed, Array(100).fill('newcomer'));
  t.end();
});
