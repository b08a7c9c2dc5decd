// class: app
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import t from 'tap';
import { connectByUrl } from '../../../../src/adapters/postgres/connection/sql.ts';
import { certificate } from '../../../support/config-certificates.ts';
import { freshStore, rawSql, problemCode, storeAt } from '../../../support/store.ts';
import type { Scope } from '../../../support/servers.ts';

t.test('of several hosts the one that is there is found', async (t) => {
  const { url } = await freshStore(t);
  const { host, username, pathname } = new URL(url);
  const sql = rawSql(t, `postgres://${username}@127.0.0.1:1,${host}${pathname}?application_name=several`);
  t.match(await sql`select current_setting('application_name') as name`, [{ name: 'several' }]);
});

t.test('a server that accepts and hangs up is not flooded', async (t) => {
  let connections = 0;
  const port = await listen(t, (socket) => {
    connections += 1;
    socket.destroy();
  });
  const store = storeAt(t, `postgres://user@127.0.0.1:${port}/none`, { deadlines: { queryMs: 500 } });
  t.equal(await problemCode(store.ping()), 'unavailable');
  t.ok(connections <= 6, `${connections} connections in half a second`);
});

t.test('what the server is called is verified where that is asked for', async (t) => {
  const port = await listen(t, speakTls);
  const caFile = join(t.testdir({ ca: certificate.a.cert, other: certificate.b.cert }), 'ca');

  /** The code of what a connection fails with; `28000` is the server's own error, so the certificate was accepted. */
  async function outcome(host: string, query: string, at = port): Promise<unknown> {
    const sql = connectByUrl(`postgres://user@${host}:${at}/db?${query}`, 5_000)();
    t.teardown(() => sql.end({ timeout: 1 }));
    return sql`select 1`.catch((error: NodeJS.ErrnoException) => error.code);
  }
  const full = `sslmode=verify-full&sslrootcert=${caFile}`;
  t.equal(await outcome('localhost', full), '28000');
  t.equal(await outcome('127.0.0.1', full), '28000');
  t.equal(await outcome('localhost', 'sslmode=verify-full'), 'DEPTH_ZERO_SELF_SIGNED_CERT');
  t.equal(await outcome('localhost', full.replace(/ca$/, 'other')), 'DEPTH_ZERO_SELF_SIGNED_CERT');
  t.equal(await outcome('localhost', 'sslmode=require'), '28000', 'not asked for');
  // Only Linux listens on all of 127/8.
  if (process.platform !== 'linux') return;
  const other = await listen(t, speakTls, '127.0.0.2');
  t.equal(await outcome('127.0.0.2', full, other), 'ERR_TLS_CERT_ALTNAME_INVALID', 'not what it is called');
});

/** Speaks as much of PostgreSQL's protocol as a client needs to find out whether it likes the certificate. */
function speakTls(socket: Socket): void {
  socket.once('data', () => {
    socket.write('S');
    const { cert, key } = certificate.a;
    const secure = new TLSSocket(socket, { isServer: true, cert, key });
    secure.on('error', () => undefined).once('data', () => secure.end(rejection));
  });
}

const fields = Buffer.from('SFATAL\0C28000\0Mno\0\0');
const rejection = Buffer.concat([Buffer.from('E'), lengthOf(fields), fields]);

function lengthOf(payload: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(payload.length + 4);
  return length;
}

async function listen(t: Scope, serve: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
