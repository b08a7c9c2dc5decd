// class: real
import t from 'tap';
import { authorizationOf } from '../support/credential-forms.ts';
import { startGateway, startProxied } from '../support/gateway.ts';
import { pythonWith, startGunicorn, withoutPython } from '../support/python.ts';
import { preflight } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

/** Each holds `_`, which CGI and its heirs make of `-`, and some servers take for a variable of their own. */
const names = ['SCRIPT_NAME', 'script_name', 'Path_Info', 'REMOTE_USER', 'X_Tenant', 'Cookie_', '_', 'a_b-c'];
const forged = Object.fromEntries(names.map((name) => [name, 'forged']));

t.test('no client header whose name holds `_` reaches an upstream', async (t) => {
  const { upstream, call, requestOf, dial } = await startProxied(t, {
    route: { preflight: 'pass' },
    // Nor does one that a trusted proxy passed on.
    trustedProxies: ['127.0.0.0/8'],
  });
  const headers = { ...forged, 'X-Fine': 'fine' };
  t.equal((await call('GET', '/', { headers })).status, 200, 'a plain request');
  t.strictSame(upstream.received[0]?.values('x-fine'), ['fine']);
  t.equal((await call('POST', '/', { headers, body: 'body' })).status, 200, 'one with a body');
  const passed = await call('OPTIONS', '/', { key: null, headers: { ...headers, ...preflight } });
  t.equal(passed.status, 200, 'a preflight');
  const client = await dial(
    requestOf('POST', '/', { 'Transfer-Encoding': 'chunked' }) +
      `4\r\nbody\r\n0\r\n${names.map((name) => `${name}: forged\r\n`).join('')}\r\n`,
  );
  t.equal((await client.response('POST')).status, 200, 'trailers');
  t.equal(upstream.heads, 4);
  for (const { method, rawHeaders } of upstream.received) t.notOk(rawHeaders.includes('forged'), method);
});

t.test('nor does one on a request for a WebSocket', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  await openWebSocket(t, port, '/', {
    authorization: authorizationOf(parent.key),
    ...forged,
  });
  const [handshake] = upstream.handshakes;
  t.equal(handshake?.headers['x-service-resolved-tenant'], parent.id);
  t.notOk(handshake?.rawHeaders.includes('forged'));
});

t.test('a route lets by the names it lists, in any case, and no others', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, {
    routes: {
      '/': upstream.url,
      '/legacy': { upstream: upstream.url, underscoreHeaders: ['x_legacy_id', 'a_b'] },
    },
  });
  const headers = { X_Legacy_ID: 'one', a_b: 'two', 'a-b_': 'forged', ...forged };
  await call('GET', '/legacy', { headers });
  await call('GET', '/', { headers });
  const [legacy, other] = upstream.received;
  t.strictSame(legacy?.values('x_legacy_id'), ['one']);
  t.ok(legacy?.rawHeaders.includes('X_Legacy_ID'), 'as it was written');
  t.strictSame(legacy?.values('a_b'), ['two']);
  t.notOk(legacy?.rawHeaders.includes('forged'));
  t.strictSame(other?.values('x_legacy_id'), []);
});

const module = 'gunicorn';
const python = pythonWith(module);
const skip = python === undefined && withoutPython(module, 'what it makes of SCRIPT_NAME was not tried');

t.test('a header does not move a path behind gunicorn after its route was chosen', { skip }, async (t) => {
  const service = await startGunicorn(
    t,
    python ?? '',
    `def app(environ, start_response):
  start_response('200 OK', [('Content-Type', 'text/plain')])
  return [environ['PATH_INFO'].encode()]
`,
  );
  const { call } = await startGateway(t, { routes: { '/public': service } });
  for (const name of ['SCRIPT_NAME', 'script_name', 'Script_Name']) {
    const { body } = await call('GET', '/public/admin/secret', { headers: [[name, '/public']] });
    t.equal(body, '/public/admin/secret', name);
  }
});
