// class: real
import t from 'tap';
import { authorizationOf } from '../support/credential-forms.ts';
import { startGateway, startProxied } from '../support/gateway.ts';
import { pythonWith, startGunicorn, withoutPython } from '../support/python.ts';
import { preflight } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../support/websockets.ts';

/** What frameworks and common middleware take for the word of a proxy, whoever sent it. */
const words = [
  // The path: another one than that whose route was chosen.
  ...[
    'X-Script-Name',
    'Script-Name',
    'Path-Info',
    'X-Original-URL',
    'X-Original-URI',
    'X-Original-Path',
    'X-Rewrite-URL',
  ],
  ...[
    'X-Forwarded-Prefix',
    'X-Forwarded-Path',
    'X-Forwarded-Uri',
    'X-Forwarded-Script-Name',
    'X-Traversal-Path',
    'X-Replaced-Path',
  ],
  ...[
    'X-Envoy-Original-Path',
    'X-Envoy-Original-Dst-Host',
    'X-Request-Base',
    'Request-Base',
    'X-Vhm-Root',
    'X-Ingress-Path',
  ],
  ...[
    'X-Matched-Path',
    'X-Invoke-Path',
    'X-Middleware-Rewrite',
    'X-Middleware-Subrequest',
    'X-MS-Original-URL',
  ],
  ...['X-WAWS-Unencoded-URL', 'X-NF-Original-Path', 'X-CF-Forwarded-Url', 'X-Base-Path', 'X-Path-Prefix'],
  // The host and the scheme.
  ...[
    'X-Host',
    'X-HTTP-Host-Override',
    'X-Original-Host',
    'X-Forwarded-Server',
    'Disguised-Host',
    'X-Scheme',
    'X-URL-Scheme',
  ],
  ...['Front-End-Https', 'X-Forwarded-Ssl', 'X-Original-Proto', 'CF-Visitor'],
  // Files.
  ...['X-Accel-Mapping', 'X-Accel-Redirect', 'X-Sendfile-Type'],
  // The caller.
  ...[
    'Remote-User',
    'X-Remote-User',
    'X-Remote-Group',
    'X-Remote-Extra-Scopes',
    'X-Forwarded-User',
    'X-Forwarded-Client-Cert',
  ],
  ...[
    'X-Auth-Request-User',
    'X-WebAuth-User',
    'X-SSL-Client-Verify',
    'X-Client-Cert',
    'WL-Proxy-Client-Cert',
    '$WSRU',
    '$WSSN',
  ],
  ...[
    'X-ARR-ClientCert',
    'MS-ASPNETCORE-CLIENTCERT',
    'X-MS-Client-Principal',
    'X-Amzn-Oidc-Identity',
    'IV-User',
    'SM-User',
  ],
];

const spellings = words.flatMap((name) => [name, name.toLowerCase(), name.replaceAll('-', '.')]);

t.test('no word of a proxy that a client made up reaches an upstream', async (t) => {
  const { upstream, call } = await startProxied(t, { route: { preflight: 'pass' } });
  // Not all at once: a request may have a hundred headers.
  for (let i = 0; i < spellings.length; i += 50) {
    const headers = { ...all(spellings.slice(i, i + 50), 'forged'), 'X-Fine': 'fine' };
    await call('GET', '/', { headers });
    await call('POST', '/', { headers, body: 'body' });
    await call('OPTIONS', '/', { key: null, headers: { ...headers, ...preflight } });
  }
  t.equal(upstream.heads, 3 * Math.ceil(spellings.length / 50));
  for (const { method, rawHeaders, values } of upstream.received) {
    t.strictSame(values('x-fine'), ['fine'], method);
    t.same(forgedIn(rawHeaders), [], method);
  }
});

t.test('nor does one on a request for a WebSocket', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  await openWebSocket(t, port, '/', { authorization: authorizationOf(parent.key), ...all(words, 'forged') });
  t.same(forgedIn(upstream.handshakes[0]?.rawHeaders ?? ['forged']), []);
});

t.test('those of a trusted proxy do, as they were written', async (t) => {
  const { upstream, call } = await startProxied(t, { trustedProxies: ['127.0.0.0/8'] });
  await call('GET', '/', { headers: all(words, 'said') });
  t.same(forgedIn(upstream.received[0]?.rawHeaders ?? [], 'said').sort(), words.toSorted());
});

t.test('headers of clients that only look alike pass', async (t) => {
  const { upstream, call } = await startProxied(t);
  const names = [
    ...[
      'X-Requested-With',
      'X-Hostname',
      'X-Original-Filename',
      'X-Rewrite',
      'X-Schema',
      'X-Client-Version',
      'X-Remote-Job',
    ],
    ...[
      'X-MS-Client-Request-Id',
      'X-Accelerate',
      'X-Goog-Api-Client',
      'X-Amzn-Trace-Id',
      'X-Vercel-Protection-Bypass',
    ],
    ...['Traceparent', 'Idempotency-Key', 'X-Middleware', 'X-Path', 'Via', 'X-User-Id', 'X-Base', 'CF-Ray'],
  ];
  await call('GET', '/', { headers: all(names, 'sent') });
  t.same(forgedIn(upstream.received[0]?.rawHeaders ?? [], 'sent').sort(), names.toSorted());
});

const scriptNames = ['X-Script-Name', 'x-script-name', 'X.Script.Name', 'X_Script_Name', 'X-Script_Name'];

t.test('a service that goes by X-Script-Name is not led around the scope of a route', async (t) => {
  const upstream = await startUpstream(t);
  const { call } = await startGateway(t, {
    routes: {
      '/public': upstream.url,
      '/admin': { upstream: upstream.url, scopes: { read: 'admin:read', write: null } },
    },
  });
  t.equal((await call('GET', '/admin/secret')).code, 'insufficient_scope');
  for (const name of scriptNames)
    t.equal((await call('GET', '/public/admin/secret', { headers: [[name, '/public']] })).status, 200, name);
  for (const { target, values } of upstream.received) {
    const [prefix = ''] = values('x-script-name');
    t.notMatch(target.startsWith(prefix) ? target.slice(prefix.length) : target, /^\/admin/);
  }
});

const module = 'gunicorn';
const python = pythonWith(module);
const skip =
  python === undefined &&
  withoutPython(module, 'what middleware for Flask makes of X-Script-Name was not tried');

t.test('nor is one behind gunicorn with the middleware of most guides to Flask', { skip }, async (t) => {
  const service = await startGunicorn(
    t,
    python ?? '',
    `def application(environ, start_response):
  start_response('200 OK', [('Content-Type', 'text/plain')])
  return [environ['PATH_INFO'].encode()]

class ReverseProxied:
  def __init__(self, app):
    self.app = app

  def __call__(self, environ, start_response):
    prefix = environ.get('HTTP_X_SCRIPT_NAME', '')
    if prefix:
      environ['SCRIPT_NAME'] = prefix
      if environ['PATH_INFO'].startswith(prefix):
        environ['PATH_INFO'] = environ['PATH_INFO'][len(prefix):]
    return self.app(environ, start_response)

app = ReverseProxied(application)
`,
  );
  const { call } = await startGateway(t, { routes: { '/public': service } });
  for (const name of scriptNames) {
    const { body } = await call('GET', '/public/admin/secret', { headers: [[name, '/public']] });
    t.equal(body, '/public/admin/secret', name);
  }
});

function all(names: readonly string[], value: string): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

function forgedIn(rawHeaders: readonly string[], value = 'forged'): string[] {
  return rawHeaders.filter((_, i) => i % 2 === 0 && rawHeaders[i + 1] === value);
}
