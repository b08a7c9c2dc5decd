// class: built
/**
 * Clients that keep the gateway waiting take little memory: bytes of a head or of a chunk that trickle in. Responses that
 * nobody reads are in test/proxy/idle-timeout.test.ts.
 *
 * TEST_SLOW_CLIENTS says how many connections there are (1,000).
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { configFile } from '../support/config-files.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { parentOf } from '../support/reload.ts';
import { valueOf } from '../support/scrape.ts';
import { startUpstream } from '../support/upstreams.ts';
import { startWorkers } from '../support/workers.ts';

const connections = Number(process.env['TEST_SLOW_CLIENTS'] ?? 1_000);
/** Resident memory that one connection may take, its socket included. */
const mostBytes = 40_000;
const rounds = 8;

async function start(t: Test) {
  const upstream = await startUpstream(t);
  const CONFIG = configFile(
    t,
    `limits: {max_connections: 20000, head_timeout_ms: 600000, max_event_loop_delay_ms: 0, max_heap_bytes: 0}`,
  );
  const gateway = await startWorkers(t, { CONFIG, UPSTREAM_URL: upstream.url }, 1);
  const { url, internalUrl, port } = gateway;
  const bearer = (key: string): [string, string] => ['Authorization', `Bearer ${key}`];
  const authorization = bearer(gateway.key);
  const other = bearer((await parentOf(t, url, internalUrl)).key);
  const serves = async (): Promise<void> => {
    const client = await rawClient(t, port);
    t.equal((await client.send(requestText('GET', '/', [other])).response()).status, 200);
    client.socket.destroy();
  };
  const residentBytes = () => valueOf(internalUrl, 'process_resident_memory_bytes');
  return { port, authorization, serves, residentBytes };
}

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

t.test(
  'heads and chunks that trickle in take little memory, and nobody else waits',
  { timeout: 600_000 },
  async (t) => {
    const { port, authorization, serves, residentBytes } = await start(t);
    const chunked = requestText('POST', '/', [authorization, ['Transfer-Encoding', 'chunked']]);
    const kinds = [
      { begins: '', goesOn: 'GET / HTTP/1.1\r\nHost: a' },
      { begins: 'GET / HTTP/1.1\r\nHost: a\r\nX: ', goesOn: 'endless-' },
      { begins: `${chunked}5`, goesOn: ';a=bcdef' },
      { begins: `${chunked}5\r\nhello\r\n`, goesOn: '00000000' },
    ];
    await serves();
    const before = await residentBytes();
    const sockets: Socket[] = [];
    for (let n = 0; n < connections; n += 1) sockets.push(await connected(port));
    for (const [n, socket] of sockets.entries()) socket.write(kinds[n % kinds.length]?.begins ?? '');
    for (let round = 0; round < rounds; round += 1) {
      for (const [n, socket] of sockets.entries()) socket.write(kinds[n % kinds.length]?.goesOn[round] ?? '');
      await serves();
      await sleep(connections > 1_000 ? 1_000 : 100);
    }
    const each = Math.round(((await residentBytes()) - before) / connections);
    t.comment(`${connections} connections, ${each} bytes each`);
    t.ok(each < mostBytes, `${each} bytes each`);
    for (const socket of sockets) socket.destroy();
  },
);
