// class: app
import { once } from 'node:events';
import type { TLSSocket } from 'node:tls';
import t from 'tap';
import { WebSocket } from 'ws';
import { certificate } from '../../support/config-certificates.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import { startWebSocketUpstream } from '../../support/websockets.ts';

t.test('all of it holds over TLS: messages, close codes, cuts and revocations', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent, directory, finished } = await startGateway(t, {
    routes: { '/': upstream.url },
    tls: certificate.a,
  });
  const open = async (key = parent.key): Promise<WebSocket> => {
    const headers = { authorization: `Bearer ${key}` };
    const socket = new WebSocket(`wss://127.0.0.1:${port}/`, { headers, rejectUnauthorized: false });
    t.teardown(() => socket.terminate());
    await once(socket, 'open');
    await eventually(() => upstream.sockets.at(-1)?.readyState === 1, 'the connection');
    return socket;
  };
  const closeCode = async (socket: WebSocket): Promise<unknown> =>
    ((await once(socket, 'close')) as unknown[])[0];

  const talking = await open();
  const message = Buffer.alloc(3 * 1024 * 1024, 'x');
  talking.send(message);
  const [echo] = (await once(talking, 'message')) as [Buffer];
  t.ok(echo.equals(message));
  talking.close(4001);
  t.equal(await closeCode(talking), 4001);

  const closed = await open();
  const told = closeCode(closed);
  upstream.sockets.at(-1)?.close(3001);
  t.equal(await told, 3001);

  const left = await open();
  const noticed = once(upstream.sockets.at(-1) as WebSocket, 'close');
  (left as WebSocket & { _socket: TLSSocket })._socket.destroy();
  t.equal(((await noticed) as unknown[])[0], 1006);

  const cut = await open();
  const broken = closeCode(cut);
  upstream.sockets.at(-1)?.terminate();
  t.equal(await broken, 1006);

  await eventually(() => finished.length === 4, 'the end of the others');
  const doomed = await open();
  const ended = closeCode(doomed);
  t.equal(directory.revoke(parent.revoked), 1);
  t.equal(await ended, 4403);
  await t.rejects(open(), { message: /401/ });
  await eventually(() => finished.length === 6, 'the records');
});
