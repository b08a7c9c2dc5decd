// class: real
import t from 'tap';
import { startGateway } from '../../support/gateway.ts';
import { noGo, noPython, startGoUpstream, startPythonUpstream } from '../../support/foreign-upstreams.ts';
import { type RawResponse } from '../../support/raw-client.ts';
import type { Scope } from '../../support/servers.ts';
import { startTcpUpstream } from '../../support/upstreams.ts';

/** A gateway before `url`, and what uploads in chunks to it. */
async function gatewayTo(t: Scope, url: string) {
  const gateway = await startGateway(t, { routes: { '/': url } });
  const head = gateway.requestOf('POST', '/', [['Transfer-Encoding', 'chunked']]);
  const upload = async (bytes: number): Promise<RawResponse> => {
    const client = await gateway.dial(head);
    for (let left = bytes; left > 0; left -= 10_000) {
      const size = Math.min(left, 10_000);
      client.send(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);
    }
    return client.send('0\r\n\r\n').response('POST');
  };
  return { ...gateway, head, upload };
}

t.test('a chunked upload reaches http.server whole, the first one too', { skip: noPython }, async (t) => {
  const { upload } = await gatewayTo(t, await startPythonUpstream(t, 'HTTP/1.0'));
  for (const bytes of [1, 20_000, 262_144]) {
    const { status, body } = await upload(bytes);
    t.strictSame([status, body], [200, `${bytes} bytes`]);
  }
});

t.test('what is too long to be held for HTTP/1.0 is 411', { skip: noPython }, async (t) => {
  const { upload, call, finished } = await gatewayTo(t, await startPythonUpstream(t, 'HTTP/1.0'));
  t.equal((await call('GET', '/')).body, 'ok');
  const response = await upload(300_000);
  t.equal(response.status, 411);
  t.match(response.json(), { code: 'length_required' });
  t.equal(finished[1]?.upstreamMs, null, 'the upstream did not get it');
  const body = 'x'.repeat(300_000);
  t.equal((await call('POST', '/', { body })).body, '300000 bytes', 'with a length it passes');
});

t.test('an upload that HTTP/1.0 did not see is 502, never a 200', { skip: noPython }, async (t) => {
  const { upload } = await gatewayTo(t, await startPythonUpstream(t, 'HTTP/1.0'));
  t.equal((await upload(300_000)).status, 502, 'its version was not known');
  t.equal((await upload(300_000)).status, 411, 'it is now');
});

t.test('an upstream of HTTP/1.1 gets long uploads in chunks', { skip: noGo }, async (t) => {
  const { upload } = await gatewayTo(t, await startGoUpstream(t));
  for (const bytes of [300_000, 1, 300_000]) t.equal((await upload(bytes)).body, `${bytes} bytes`);
});

t.test('an upload of which no more comes for now is sent on after a moment', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  );
  const { head, dial } = await gatewayTo(t, upstream.url);
  const client = await dial(`${head}4\r\nsome\r\n`);
  t.equal((await client.response('POST')).body, 'ok', 'it could be waited for before the rest is sent');
});

t.test('a rejection in HTTP/1.0 before an upstream of HTTP/1.1 changes nothing', async (t) => {
  let status = 200;
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.startsWith('GET') && status === 503) socket.end('HTTP/1.0 503 Busy\r\n\r\nbusy');
    else if (head.startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    else socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${head.length}\r\n\r\n${head}`);
  });
  const { call, upload } = await gatewayTo(t, upstream.url);
  for (status of [200, 503]) t.equal((await call('GET', '/')).status, status);
  t.match((await upload(1)).body, /transfer-encoding: chunked/);
});
