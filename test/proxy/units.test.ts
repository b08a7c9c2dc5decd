// class: app
/** What responses state that their requests were worth: counted, taken out, and known to limits before the client knows. */
import t, { type Test } from 'tap';
import { eventually, startGateway, type GatewayOptions } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';
import { startTcpUpstream, startUpstream } from '../support/upstreams.ts';

const unitsHeader = 'X-Units';

/** An upstream that states the value of `?u=`, and a gateway before it. */
async function start(
  t: Test,
  options: Omit<GatewayOptions, 'routes'> & { readonly routes?: GatewayOptions['routes'] } = {},
) {
  const upstream = await startUpstream(t, (request, response) => {
    const values = new URL(request.target, 'http://upstream').searchParams.getAll('u');
    if (values.length > 0) response.setHeader(unitsHeader, values);
    response.end('body');
  });
  const gateway = await startGateway(t, {
    ...{ unitsHeader, routes: { '/': upstream.url } },
    ...options,
  });
  return { ...gateway, upstream };
}

const largest = Number.MAX_SAFE_INTEGER;
const stated: readonly (readonly [value: string, units: number])[] = [
  ['0', 0],
  ['7', 7],
  ['007', 7],
  [String(largest), largest],
];
const malformed = [
  '',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '0x10',
  '1,2',
  '1, 2',
  'ten',
  String(largest + 1),
  '9'.repeat(400),
];

for (const client of ['native', 'undici'] as const)
  t.test(`the units of a response are counted, and hidden from the client (${client})`, async (t) => {
    const upstream = await startUpstream(t, (request, response) => {
      response.setHeader(unitsHeader, decodeURIComponent(request.target.slice(2))).end('body');
    });
    const { call, usage, log } = await startGateway(t, {
      ...{ unitsHeader, routes: { '/': { upstream: upstream.url, client } } },
    });
    for (const [value, units] of stated) {
      const { status, headers, body } = await call('GET', `/?${value}`);
      t.match({ status, body }, { status: 200, body: 'body' });
      t.notOk(headers[unitsHeader.toLowerCase()]);
      t.equal(usage.at(-1)?.units, units, value);
    }
    t.notMatch(log.text, /units/);
  });

t.test('units that cannot be read count as 0, and the client does not get them either', async (t) => {
  const { call, usage } = await start(t);
  for (const value of malformed) {
    const { status, headers } = await call('GET', `/?u=${encodeURIComponent(value)}`);
    t.equal(status, 200, value);
    t.notOk(headers['x-units']);
    t.equal(usage.at(-1)?.units, 0, value);
  }
  t.equal((await call('GET', '/?u=5&u=7')).status, 200);
  t.equal(usage.at(-1)?.units, 0, 'a header that comes twice states no number');
});

t.test('no other header and no trailer states units', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write(
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nX-Units: 3\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nX_Units: 5\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Units: 7\r\n\r\n',
    );
  });
  const { usage, dial, requestOf } = await startGateway(t, { unitsHeader, routes: { '/': upstream.url } });
  const raw = await dial(requestOf('GET', '/', [['TE', 'trailers']]));
  await raw.until(() => raw.text.endsWith('0\r\n\r\n') || raw.text.includes('X-Units'));
  t.notMatch(raw.text, /x-units/i);
  t.equal(usage.at(-1)?.units, 0);
});

t.test('pass_units_header shows units to the client; without units_header none are read', async (t) => {
  const upstream = await startUpstream(
    t,
    (_request, response) => void response.setHeader('x-units', '9').end(),
  );
  const passing = { upstream: upstream.url, passUnitsHeader: true };
  const shown = await startGateway(t, { unitsHeader, routes: { '/': passing } });
  t.equal((await shown.call('GET', '/')).headers['x-units'], '9');
  t.equal(shown.usage[0]?.units, 9);
  const without = await startGateway(t, { routes: { '/': upstream.url } });
  t.equal((await without.call('GET', '/')).headers['x-units'], '9');
  t.equal(without.usage[0]?.units, 0);
});

t.test('on an open route units are neither counted nor passed on', async (t) => {
  const upstream = await startUpstream(
    t,
    (_request, response) => void response.setHeader('x-units', '9').end(),
  );
  const open = { upstream: upstream.url, open: { perSecond: 100 } };
  const { call, usage } = await startGateway(t, { unitsHeader, routes: { '/': open } });
  t.notOk((await call('GET', '/', { key: null })).headers['x-units']);
  t.same(usage, []);
});

t.test('an error of the upstream counts its units; without a response there are none', async (t) => {
  const upstream = await startTcpUpstream(t, (socket, head) => {
    if (head.includes('/cut')) socket.destroy();
    else socket.write('HTTP/1.1 500 Oops\r\nX-Units: 4\r\nContent-Length: 0\r\n\r\n');
  });
  const rateLimiter = new OneReplicaLimiter();
  const { call, usage, directory, parent } = await startGateway(t, {
    ...{ unitsHeader, routes: { '/': upstream.url }, rateLimiter },
  });
  directory.limitAccount(parent, { unitsPerMonth: 10 });
  t.equal((await call('POST', '/')).status, 500);
  t.equal(usage.at(-1)?.units, 4);
  t.equal((await call('POST', '/cut')).status, 502);
  t.equal(usage.at(-1)?.units, 0);
  t.match((await call('POST', '/')).headers, {
    'ratelimit-policy': '"parent-month-units";q=10;w=2592000;qu="units"',
    ratelimit: '"parent-month-units";r=2;t=2592000',
  });
});

t.test('a quota of units is taken when the response comes, and the next request is rejected', async (t) => {
  const { call, upstream, directory, parent } = await start(t, { rateLimiter: new OneReplicaLimiter() });
  directory.limitAccount(parent, { unitsPerMonth: 10 });
  t.equal((await call('GET', '/?u=3')).status, 200);
  t.equal((await call('GET', '/?u=400')).status, 200, 'it is worth more than is left');
  const full = await call('GET', '/?u=1');
  t.equal(full.status, 429);
  t.match(full.json(), {
    code: 'quota_exceeded',
    limited: 'parent',
    detail: /quota of units for this month/,
  });
  t.equal(upstream.heads, 2);
});

/** A gateway whose limiter answers when the test says so. */
async function startHeld(t: Test, options: Parameters<typeof start>[1] = {}) {
  const answers: (() => void)[] = [];
  const gateway = await start(t, {
    rateLimiter: new OneReplicaLimiter((answer) => answers.push(answer)),
    ...options,
  });
  gateway.directory.limitAccount(gateway.parent, { unitsPerMonth: 1_000 });
  /** Lets the limiter answer once. */
  const answer = async (): Promise<void> => {
    await eventually(() => answers.length > 0, 'the question to the limiter');
    answers.shift()?.();
  };
  return { ...gateway, answer, answers };
}

t.test('a client gets nothing of a response before the store of limits knows its units', async (t) => {
  const { usage, answer, answers, dial, requestOf } = await startHeld(t);
  const raw = await dial(requestOf('GET', '/?u=5'));
  await answer();
  await eventually(() => answers.length > 0, 'the report to the limiter');
  t.equal(usage.at(-1)?.units, 5, 'it is counted');
  t.equal(raw.text, '');
  await answer();
  t.equal((await raw.response()).body, 'body');
});

t.test('all of a response that came while it waited for the store arrives, in any framing', async (t) => {
  const rows = Array.from({ length: 2_000 }, (_, i) => `${String(i).padStart(199, '.')}\n`);
  const chunks = rows.map((row) => `c8\r\n${row}\r\n`).join('');
  const long = 'x'.repeat(3_000_000);
  for (const [framing, sent, body] of [
    [`Content-Length: ${long.length}`, long, long],
    ['Transfer-Encoding: chunked', `${chunks}0\r\n\r\n`, rows.join('')],
  ]) {
    const upstream = await startTcpUpstream(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nX-Units: 5\r\n${framing}\r\n\r\n${sent}`);
    });
    const { call, answer } = await startHeld(t, { routes: { '/': upstream.url } });
    const response = call('GET', '/');
    await answer();
    await answer();
    t.equal((await response).body, body);
  }
});

t.test('if a client leaves while its response waits, its units are counted, nothing breaks', async (t) => {
  const { call, usage, finished, answer, answers, dial, requestOf } = await startHeld(t);
  const raw = await dial(requestOf('GET', '/?u=5'));
  await answer();
  await eventually(() => answers.length > 0, 'the report to the limiter');
  raw.socket.destroy();
  await eventually(() => finished.length > 0, 'the end of the exchange');
  await answer();
  t.equal(usage[0]?.units, 5);
  const next = call('GET', '/?u=1');
  await answer();
  await answer();
  t.equal((await next).status, 200);
});

t.test('if an upstream breaks off meanwhile, the client gets 502 or the cut response', async (t) => {
  const upstream = await startTcpUpstream(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Units: 4\r\nContent-Length: 10\r\n\r\nhalf', () => socket.destroy());
  });
  const { answer, usage, dial, requestOf } = await startHeld(t, { routes: { '/': upstream.url } });
  const raw = await dial(requestOf('GET', '/'));
  await answer();
  await answer();
  await eventually(() => raw.text.startsWith('HTTP/1.1 502 ') || raw.socket.closed, 'the end');
  t.notMatch(raw.text, /half.{6}$/);
  t.equal(usage[0]?.units, 4);
});
