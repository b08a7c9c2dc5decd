// class: app
/** Bodies in chunks of a byte, from either side: passed on as they come, each would take a write of its own. */
import t from 'tap';
import { startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startRawUpstream, startTcpUpstream } from '../support/upstreams.ts';

const chunks = 20_000;
const body = `${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`;
/** Chunks that may be passed on: some for each read of a socket. */
const most = 200;

t.test('a response is passed on in few writes', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
  });
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await dial(requestOf('GET', '/'));
  t.equal((await client.response()).body, 'x'.repeat(chunks));
  const count = (client.text.match(/\r\n[0-9a-f]+\r\n/g) ?? []).length;
  t.ok(count <= most, `${count} chunks`);
});

t.test('an upload is passed on in few writes', async (t) => {
  let pieces = 0;
  let bytes = 0;
  const upstream = await startRawUpstream(t, () => (request, response) => {
    request.on('data', (piece: Buffer) => {
      pieces += 1;
      bytes += piece.length;
    });
    request.on('end', () => response.end());
  });
  const { parent, port } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  const head = [
    ['Authorization', `Bearer ${parent.key}`],
    ['X-Service-Acting-Tenant', 'self'],
    ['Transfer-Encoding', 'chunked'],
  ] as const;
  client.send(requestText('POST', '/', head) + body);
  t.equal((await client.response('POST')).status, 200);
  t.equal(bytes, chunks);
  t.ok(pieces <= most, `${pieces} chunks`);
});
