// class: app
/** What `docs/maintainers/private-parts.md` lists is there, and does what it says: one test for each. */
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import pino from 'pino';
import postgres from 'postgres';
import { Registry, type Metric } from 'prom-client';
import t from 'tap';
import { eventually } from './support/eventually.ts';
import { freshDatabase } from './support/postgres.ts';
import { connected, listening } from './support/text-client.ts';

t.test(
  'Node: shouldKeepAlive is read when a response writes its head, and may say that it is the last one',
  async (t) => {
    const server = createServer((_request, response) => {
      Object.defineProperty(response, 'shouldKeepAlive', { get: () => false, set: () => undefined });
      response.writeHead(200).end('last');
    });
    const client = await connected(t, server);
    client.socket.write(get);
    await eventually(() => client.socket.closed);
    t.match(client.text, /^connection: close\r$/im);
  },
);

t.test('postgres: a statement keeps its arguments in args and parameters', async (t) => {
  const sql = postgres(await freshDatabase(t), { max: 1, fetch_types: false });
  t.teardown(() => sql.end({ timeout: 0 }));
  const statement = sql`select ${'made-up'}::text as key`;
  await statement;
  const kept = statement as unknown as { args: unknown; parameters: unknown };
  t.same(kept.args, ['made-up']);
  t.match(kept.parameters, ['made-up']);
  t.same([kept.args, kept.parameters].map(Array.isArray), [true, true]);
});

t.test('postgres: the option socket gets lists of hosts and ports, and makes the connection', async (t) => {
  const url = new URL(await freshDatabase(t));
  const asked: { host: readonly string[]; port: readonly number[] }[] = [];
  const options = {
    max: 1,
    fetch_types: false,
    socket: (address: (typeof asked)[number]) => {
      asked.push(address);
      return connect(Number(url.port), url.hostname);
    },
  };
  const sql = postgres(`postgres://${url.username}@one:1,two:2${url.pathname}`, options);
  t.teardown(() => sql.end({ timeout: 0 }));
  t.same([...(await sql`select 1 as one`)], [{ one: 1 }]);
  t.match(asked, [{ host: ['one', 'two'], port: [1, 2] }]);
});

t.test('postgres: the name that TLS asks for is the host of the socket', async (t) => {
  const server = createServer();
  const { port } = await listening(t, server);
  server.removeAllListeners('connection');
  let hello = '';
  server.on('connection', (socket) => {
    socket.on('error', () => undefined);
    // The first message asks for TLS: `S` grants it, and what comes next is the ClientHello.
    socket.once('data', () => {
      socket.write('S');
      socket.once('data', (bytes: Buffer) => {
        hello = bytes.toString('latin1');
        socket.destroy();
      });
    });
  });
  const options = {
    ssl: true,
    socket: () => Object.assign(connect(port, '127.0.0.1'), { host: 'store.example' }),
  };
  const sql = postgres('postgres://user@127.0.0.1/none', { ...options, max: 1, connect_timeout: 2 });
  t.teardown(() => sql.end({ timeout: 0 }));
  await t.rejects(async () => await sql`select 1`);
  t.match(hello, 'store.example');
});

t.test('postgres: a socket that is open by its readyState is said goodbye to', async (t) => {
  const url = new URL(await freshDatabase(t));
  const sent: Buffer[] = [];
  const inner = connect(Number(url.port), url.hostname);
  t.teardown(() => inner.destroy());
  const sql = postgres(url.href, { max: 1, fetch_types: false, ...{ socket: () => wrapped(inner, sent) } });
  await sql`select 1`;
  await sql.end({ timeout: 1 });
  t.equal(sent.at(-1)?.toString('latin1'), 'X\0\0\0\x04');
});

t.test('pino: a logger shows its stream under symbols.streamSym', (t) => {
  const stream = { write: () => undefined };
  const logger = pino({}, stream) as unknown as Record<symbol, unknown>;
  t.equal(logger[pino.symbols.streamSym], stream);
  t.end();
});

t.test('prom-client: a registry writes what any object with a name and get() gives', async (t) => {
  const values = [
    { metricName: 'x_bucket', labels: { le: 1 }, value: 2 },
    { metricName: 'x_count', labels: {}, value: 3 },
  ];
  const about = { name: 'x', help: 'Some help.', type: 'histogram', aggregator: 'sum' };
  const registry = new Registry();
  registry.registerMetric({ ...about, get: async () => ({ ...about, values }) } as unknown as Metric);
  t.equal(
    await registry.metrics(),
    '# HELP x Some help.\n# TYPE x histogram\nx_bucket{le="1"} 2\nx_count 3\n',
  );
});

const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** A duplex stream around `inner` that says of itself that it is open, and keeps what is sent. */
function wrapped(inner: Socket, sent: Buffer[]): Duplex {
  const outer = new Duplex({
    read: () => undefined,
    write: (chunk: Buffer, _encoding, done) => {
      sent.push(chunk);
      inner.write(chunk, done);
    },
    final: (done) => {
      done();
      inner.end();
      outer.destroy();
    },
  });
  inner.on('data', (chunk: Buffer) => outer.push(chunk));
  inner.on('error', () => undefined);
  return Object.defineProperty(outer, 'readyState', { value: 'open' });
}
