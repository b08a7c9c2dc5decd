// class: built
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { freshDatabase } from '../support/postgres.ts';
import { becomes, startProcess, tempFolder } from '../support/process.ts';
import type { Scope } from '../support/servers.ts';
import { migrated, rawSql } from '../support/store.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { startRawUpstream, type Upstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';
import { startWorkers, type WorkersProcess } from '../support/workers.ts';

interface Setting extends WorkersProcess {
  readonly upstream: Upstream;
  /** Lets the upstream answer what it holds. */
  readonly release: () => void;
}

t.test(
  'SIGTERM: unready, no new connections, what is in flight to its end, usage kept, lease given back',
  async (t) => {
    const { program, url, internalUrl, upstream, release, key, databaseUrl } = await start(t);
    const sql = rawSql(t, databaseUrl);
    t.equal((await sql`select from replica`).length, 1);
    const inFlight = get(`${url}/slow`, key);
    await eventually(() => upstream.heads === 1);

    program.child.kill('SIGTERM');
    await becomes(internalUrl, 503, 'draining');
    // The listener closes just after it says so. Who comes in between is reset, or let in and hung up on.
    await eventually(async () => (await failureToConnect(url)) === 'ECONNREFUSED');
    t.ok(program.running, 'it waits for the request');

    release();
    const answer = await inFlight;
    t.equal(answer.status, 200);
    t.equal(answer.body, 'first half, second half');
    t.equal(answer.connection, 'close');
    t.equal(await program.ended(), 0);
    t.equal((await sql`select from replica`).length, 0, 'no writer waits for this replica');
    t.match(await sql`select requests::int from usage_hourly`, [{ requests: 1 }]);
  },
);

t.test('a second signal ends it at once', async (t) => {
  const { program, url, internalUrl, upstream, key } = await start(t);
  const inFlight = get(`${url}/slow`, key);
  await eventually(() => upstream.heads === 1);
  const cut = t.rejects(inFlight);
  program.child.kill('SIGTERM');
  await becomes(internalUrl, 503, 'draining');
  program.child.kill('SIGINT');
  t.not(await program.ended(), 0);
  await cut;
});

t.test(
  'WebSockets are told to go elsewhere and hold nothing up, one that opens meanwhile as well',
  async (t) => {
    const { url: webSockets } = await startWebSocketUpstream(t);
    const { program, url, internalUrl, key } = await start(t, { UPSTREAM_URL: webSockets });
    const told = { code: 1001, reason: 'the gateway is going away' };
    const open = () => openWebSocket(t, Number(new URL(url).port), '/', { authorization: `Bearer ${key}` });
    const first = await open();
    program.child.kill('SIGTERM');
    await becomes(internalUrl, 503, 'draining');
    await eventually(() => first.closed !== null);
    t.match(first.closed, told);
    const second = await open();
    t.equal(await program.ended(), 0);
    await eventually(() => second.closed !== null);
    t.match(second.closed, told);
    t.notOk(program.log().some(({ msg }) => String(msg).includes('were cut')));
  },
);

t.test('what is still in flight when the time is over is cut, and the end is in order', async (t) => {
  const { program, url, upstream, key } = await start(t, { CONFIG: configFile(t, 'drain_ms: 5000') });
  const inFlight = get(`${url}/slow`, key);
  await eventually(() => upstream.heads === 1);
  const ending = t.rejects(inFlight);
  t.equal(await program.kill('SIGTERM'), 0);
  await ending;
  t.ok(program.log().some(({ msg }) => String(msg).includes('were cut')));
});

/** A gateway that has counted six requests, of which its database lacks five, because it is away since. */
async function withUnstoredUsage(t: Test, drainMs: number) {
  const databaseUrl = await freshDatabase(t, migrated);
  const line = await TcpProxy.open(t, databaseUrl);
  const yaml = `drain_ms: ${drainMs}\ndata_dir: ${tempFolder(t)}/data\ncoherence: { lease_ms: 20000 }\n`;
  const gateway = await start(t, { DATABASE_URL: line.url, CONFIG: configFile(t, yaml) });
  const { url, key, release, program } = gateway;
  const sql = rawSql(t, databaseUrl);
  const first = get(`${url}/slow`, key);
  await eventually(() => gateway.upstream.heads === 1);
  release();
  t.equal((await first).status, 200);
  // Usage has just been stored, so that the next time is two seconds away.
  await eventually(async () => (await sql`select from usage_hourly`).length > 0);
  const responses = Array.from({ length: 5 }, () => get(`${url}/slow`, key));
  await eventually(() => gateway.upstream.heads === 6);
  line.refuse();
  release();
  for (const { status } of await Promise.all(responses)) t.equal(status, 200);
  return { program, line, sql, env: gateway.env };
}

t.test('usage that cannot be stored at once is stored when the database is back', async (t) => {
  const { program, line, sql } = await withUnstoredUsage(t, 20_000);
  program.child.kill('SIGTERM');
  await eventually(() => program.log().some(({ msg }) => String(msg).includes('usage cannot be added')));
  line.mend();
  t.equal(await program.ended(), 0);
  t.match(await sql`select sum(requests)::int as requests from usage_hourly`, [{ requests: 6 }]);
});

t.test(
  'usage that could not be stored is said with its journal, and the next process stores it',
  async (t) => {
    const { program, line, sql, env } = await withUnstoredUsage(t, 10_000);
    t.equal(await program.kill('SIGTERM'), 1);
    const said = program.log().find(({ msg }) => String(msg).startsWith('usage could not be added'));
    t.match(said, { level: 'error', requests: 5, journal: /usage/ });
    line.mend();
    const next = await startProcess(t, env);
    await becomes(next.internalUrl, 200);
    const stored = async () => (await sql`select sum(requests)::int as requests from usage_hourly`)[0];
    await eventually(async () => (await stored())?.['requests'] === 6);
  },
);

async function start(t: Scope, more: Readonly<Record<string, string>> = {}): Promise<Setting> {
  const held: (() => void)[] = [];
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    held.push(() => {
      response.write('first half, ');
      response.end('second half');
    });
  });
  const gateway = await startWorkers(t, { UPSTREAM_URL: upstream.url, ...more }, 1);
  return { ...gateway, upstream, release: () => held.splice(0).forEach((answer) => answer()) };
}

async function failureToConnect(url: string): Promise<string | undefined> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  try {
    await once(socket, 'connect');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    socket.destroy();
  }
}

/** On a connection of its own that would be kept alive. */
function get(
  url: string,
  key: string,
): Promise<{ status: number; body: string; connection: string | undefined }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, connection: 'keep-alive' };
    request(url, { agent: false, headers }, (response) => {
      text(response).then(
        (body) =>
          resolve({ status: response.statusCode ?? 0, body, connection: response.headers.connection }),
        reject,
      );
    })
      .on('error', reject)
      .end();
  });
}
