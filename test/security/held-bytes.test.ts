// class: app, alone
/** Clients that make the gateway hold bytes in memory: what all of them together can make it hold, and whom it costs. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import type { SubAccount } from '../../src/domain/account.ts';
import type { AccountId } from '../../src/domain/ids.ts';
import { noLimits } from '../../src/domain/limits/limits.ts';
import type { BodyReader, ClientRequest } from '../../src/http/client-request.ts';
import { unreadBytes } from '../../src/http/socket-bytes.ts';
import { HeldBytes } from '../../src/limits/held-bytes.ts';
import { RequestBody } from '../../src/proxy/body/request-body.ts';
import { eventually, standstill, startGateway } from '../support/gateway.ts';
import type { Holder } from '../support/memory-directory.ts';
import { bytesInUse } from '../support/memory.ts';
import { rawClient, requestText, type RawClient } from '../support/raw-client.ts';
import { pair } from '../support/socket-pair.ts';
import { startTcpUpstream } from '../support/upstreams.ts';
import { consent, handshake } from '../support/websockets.ts';

const budget = 1_000_000;
const attackers = 30;
/** Bytes of one download. More than the operating system takes for a client that reads nothing. */
const large = 8_000_000;

const cuts = { callers: 0, strangers: 0 };
const held = new HeldBytes(budget, (kind) => (cuts[kind] += 1));
const upstream = await startTcpUpstream(t, (socket, head) => void serve(socket, head));
const old = await startTcpUpstream(t, (socket) => {
  socket.end('HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok');
});
const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`name ${i}`, 'x'.repeat(500)]));
const timeouts = { connectMs: 600_000, headersMs: 600_000, bodyMs: 600_000 };
const peers: Socket[] = [];
const { server, port, call, directory } = await startGateway(t, {
  routes: {
    '/': { upstream: upstream.url, connections: 1_000, timeouts },
    '/old': { upstream: old.url, connections: 1_000, timeouts },
  },
  limits: { managementBodyBytes: 1_000_000, bodyIdleMs: 600_000, minBodyBytesPerMinute: 0 },
  held,
  tenants: {
    listSubAccounts: async (parentId) => ({
      rows: Array(14).fill(accountOf(parentId)) as SubAccount[],
      hasMore: false,
    }),
  },
});
server.on('connection', (socket: Socket) => peers.push(socket));
const scopes = ['sub_accounts:read', 'sub_accounts:write'];
const [attacker, honest] = [directory.addParent(scopes), directory.addParent(scopes)];
const by = ({ key }: Holder) => [['Authorization', `Bearer ${key}`] as const];
const json = ['Content-Type', 'application/json'] as const;
const long = (bytes: number) => ['Content-Length', String(bytes)] as const;

/** As a client sends it. */
const emptyFrame = '\x81\x80\0\0\0\0';
/** As a service sends it. */
const largeFrame = Buffer.concat([Buffer.from([0x82, 126, 0xff, 0xff]), Buffer.alloc(65_535, 'a')]);

/** Ways to make the gateway hold bytes: what a client sends that reads nothing, and who holds them then. */
const ways = {
  'refusals without a key': [requestText('GET', `/${'a'.repeat(15_000)}`).repeat(600), 'strangers'],
  'unfinished heads': [requestText('GET', `/${'a'.repeat(15_000)}`).slice(0, -2), 'strangers'],
  'responses of a service': [requestText('GET', '/large', by(attacker)), 'callers'],
  'frames of WebSockets': [requestText('GET', '/flood', handshake(attacker.key)), 'callers'],
  'bodies that a service does not read': [
    requestText('POST', '/unread', [...by(attacker), long(large)]) + 'x'.repeat(large),
    'callers',
  ],
  'bodies in chunks': [
    requestText('POST', '/old', [...by(attacker), ['Transfer-Encoding', 'chunked']]) + chunk(200_000),
    'callers',
  ],
  'lists of accounts': [requestText('GET', '/v1/sub-accounts', by(attacker)).repeat(40), 'callers'],
  'bodies of management calls': [
    requestText('POST', '/v1/sub-accounts', [...by(attacker), json, long(200_000)]) +
      '{"name":"'.padEnd(190_000),
    'callers',
  ],
} as const;

t.test('what one holder makes the gateway hold is limited in all, and costs nobody else', async (t) => {
  for (const [way, [text, kind]] of Object.entries(ways)) {
    const download = await unread(requestText('GET', '/large', by(honest)));
    const webSocket = await connected(requestText('GET', '/echo', handshake(honest.key)));
    await webSocket.until(() => webSocket.text.includes('\r\n\r\n'));
    await eventually(() => held.held.callers > 0);
    const before = { ...cuts };
    const clients: RawClient[] = [];
    let most = 0;
    for (let i = 0; i < attackers; i++) {
      clients.push(await unread(text));
      most = Math.max(most, held.held.callers + held.held.strangers);
    }
    await eventually(() => cuts[kind] > before[kind], `a cut because of ${way}`);
    await standstill(() => 1 + cuts[kind]);
    t.ok(most <= (17 / 16) * budget, `${most} bytes by ${way}`);
    t.ok(held.held.strangers <= ((17 / 16) * budget) / 4, 'strangers have a quarter');
    t.ok(cuts[kind] - before[kind] < attackers, 'some are held');
    t.comment(`${way}: ${cuts[kind] - before[kind]} of ${attackers} cut, ${most} bytes at most`);

    const other = kind === 'callers' ? 'strangers' : 'callers';
    t.equal(cuts[other], before[other], 'nobody else is cut');
    t.equal((await call('GET', '/v1/sub-accounts', { key: honest.key })).status, 200, 'management is served');
    webSocket.send(emptyFrame);
    await webSocket.until(() => webSocket.text.endsWith(emptyFrame));
    download.socket.resume();
    t.equal((await download.response()).body.length, large, 'a slow download goes on');
    // The end of a client that is not being read would be noticed later.
    for (const socket of peers.splice(0)) socket.destroy();
    await eventually(() => held.held.callers + held.held.strangers === 0, 'everything is given back');
  }
});

t.test('a body in chunks is held up to 256 KiB, and an idle WebSocket counts with 8 KiB', async (t) => {
  const head = requestText('POST', '/old', [...by(honest), ['Transfer-Encoding', 'chunked']]);
  for (const over of [0, 1]) {
    const client = await connected(`${head}${chunk(256 * 1024 + over)}0\r\n\r\n`);
    t.equal((await client.response('POST')).status, over === 0 ? 200 : 411);
  }
  await eventually(() => held.held.callers === 0);
  const text = requestText('GET', '/echo', handshake(honest.key));
  await connected(text);
  // The empty line behind a head is not kept.
  await eventually(() => held.held.callers === text.length - 2 + 8 * 1024);
});

t.test('a paused socket counts with what Node reads of it nevertheless', async (t) => {
  const [near, far] = await pair(t);
  near.once('data', () => near.pause());
  far.write(Buffer.alloc(1_000_000));
  await eventually(() => near.isPaused());
  const ahead = unreadBytes(near);
  await eventually(() => near.readableLength > 0, 'Node reads on');
  t.ok(near.readableLength <= ahead, `${near.readableLength} bytes have been read`);
  near.resume();
  t.equal(unreadBytes(near), 0);
});

t.test('a body in pieces of a byte takes little more memory than its bytes', async (t) => {
  const bytes = 200_000;
  let length = 0;
  let reading: BodyReader | undefined;
  const body = new RequestBody(
    {
      readBody: (reader: BodyReader) => (reading = reader),
      endBody: () => undefined,
    } as unknown as ClientRequest,
    undefined,
    {
      mayPass: () => true,
      onBuffered: (content) => (length = content.length),
      onNotHeld: () => t.fail('it has room'),
      broke: (error) => t.error(error),
    },
  );
  body.hold();
  const before = bytesInUse();
  for (let i = 0; i < bytes; i++) {
    reading?.onBytes(Buffer.from('x'));
    if (i % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await eventually(() => body.bytes === bytes);
  // Other tests of this process may not have released everything yet.
  let grown = Infinity;
  await eventually(() => (grown = bytesInUse() - before) < 4_000_000, 'it takes little memory');
  t.ok(grown < 4_000_000, `${grown} bytes`);
  t.ok(body.heldBytes <= 2 * bytes, `${body.heldBytes} bytes are held`);
  reading?.onBodyEnd();
  await eventually(() => length === bytes);
});

function connected(text: string): Promise<RawClient> {
  return rawClient(t, port).then((client) => client.send(text));
}

/** A sub-account with as much metadata as it may have. */
function accountOf(parentId: AccountId): SubAccount {
  const at = new Date(0);
  return {
    ...{ id: parentId, parentId, name: 'Child', externalId: null, status: 'active', metadata },
    ...{ limits: noLimits, createdAt: at, updatedAt: at, deactivatedAt: null },
  };
}

/** A client that reads nothing. */
async function unread(text: string): Promise<RawClient> {
  const client = await connected(text);
  client.socket.pause();
  return client;
}

function chunk(bytes: number): string {
  return `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
}

async function serve(socket: Socket, head: string): Promise<void> {
  const path = head.split(' ', 2)[1];
  if (path === '/unread') socket.pause();
  if (path === '/flood' || path === '/echo') socket.write(consent);
  if (path === '/echo') socket.on('data', (bytes: Buffer) => socket.write(bytes));
  if (path === '/large') socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large}\r\n\r\n`);
  const [piece, pieces] =
    path === '/flood'
      ? [largeFrame, Infinity]
      : [Buffer.alloc(large / 100, 'a'), path === '/large' ? 100 : 0];
  for (let i = 0; i < pieces && !socket.destroyed; i++)
    if (!socket.write(piece))
      await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
}
