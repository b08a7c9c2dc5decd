// class: real
/** Traces, seen by a real collector and by real upstreams. */
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { startCollector, type CollectedSpan, type Collector } from '../../support/otlp-collector.ts';
import { raw, start } from '../../support/reload.ts';
import type { Scope } from '../../support/servers.ts';
import { startUpstream, type Received } from '../../support/upstreams.ts';
import { openWebSocket, startWebSocketUpstream } from '../../support/websockets.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${parentId}-01`;

t.test(
  'a request is a server span with authenticate, decide and the client span its upstream sees',
  async (t) => {
    const { collector, upstream, key, call } = await traced(t);
    const answer = await call('/things/7?token=hunter2', { traceparent: sampled, tracestate: 'a=1,b=2' });
    t.equal(answer.status, 200);
    const spans = await trace(collector, traceId, 4);
    const { server, authenticate, decide, client } = byRole(spans);
    t.match(server, { name: 'GET /', parentId, service: 'edge', traceState: 'a=1,b=2', failed: false });
    t.same(server.attributes, {
      'http.request.method': 'GET',
      'http.route': '/',
      'url.scheme': 'http',
      'url.path': '/things/7',
      'http.response.status_code': 200,
      'tenancy_gateway.request_id': answer.headers.get('x-request-id'),
    });
    t.same([authenticate.parentId, decide.parentId, client.parentId], Array(3).fill(server.spanId));
    t.match(client, { kind: 'client', name: 'GET', failed: false });
    t.same(client.attributes, {
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': upstream.port,
      'url.scheme': 'http',
    });
    const [received] = upstream.received as [Received];
    t.same(received.values('traceparent'), [`00-${traceId}-${client.spanId}-01`]);
    t.same(received.values('tracestate'), ['a=1,b=2']);

    t.ok(server.start <= authenticate.start && authenticate.end <= decide.start, 'in this order');
    t.ok(decide.start <= decide.end && decide.end <= client.start + 1_000_000n);
    t.ok(client.end <= server.end);
    const now = BigInt(Date.now()) * 1_000_000n;
    t.ok(now - server.end < 60_000_000_000n && now >= server.end - 2_000_000n, 'by the wall clock');
    const exported = Buffer.concat(collector.bodies).toString('latin1');
    for (const secret of ['hunter2', key, key.slice(8)]) t.notOk(exported.includes(secret));
  },
);

t.test('who a client says it acts for is in no span', async (t) => {
  const { collector, call } = await traced(t);
  await call('/x', { traceparent: sampled, 'x-service-acting-tenant': 'ext:customer-4711' });
  await trace(collector, traceId, 3);
  t.notOk(Buffer.concat(collector.bodies).toString('latin1').includes('customer-4711'));
});

t.test(
  'what is malformed, or said twice, begins a new trace, and takes its tracestate with it',
  async (t) => {
    const { collector, upstream, call, key, port } = await traced(t);
    const bad = [
      'hello',
      `00-${traceId}-${parentId}`,
      `00-${traceId.toUpperCase()}-${parentId}-01`,
      `00-${'0'.repeat(32)}-${parentId}-01`,
      `00-${traceId}-${'0'.repeat(16)}-01`,
      `ff-${traceId}-${parentId}-01`,
      `${sampled}-more`,
      `${sampled}, ${sampled}`,
    ];
    for (const traceparent of bad) await call('/x', { traceparent, tracestate: 'a=1' });
    const twice = `traceparent: ${sampled}\r\n`.repeat(2);
    const head = `GET /x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
    await raw(port, `${head}${twice}tracestate: a=1\r\n\r\n`);
    await eventually(() => collector.spans.length === 4 * (bad.length + 1));
    t.notOk(collector.spans.some((span) => span.traceId === traceId));
    for (const received of upstream.received) {
      t.match(received.values('traceparent'), [/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/]);
      t.equal(received.values('traceparent').length, 1);
      t.same(received.values('tracestate'), []);
    }
    t.equal(new Set(collector.spans.map((span) => span.traceId)).size, bad.length + 1);
  },
);

t.test('a trace of a later version is gone on with, and a malformed tracestate is left out', async (t) => {
  const { collector, upstream, call } = await traced(t);
  await call('/x', { traceparent: `cc-${traceId}-${parentId}-01-what-will-be`, tracestate: '=,=' });
  const { client } = byRole(await trace(collector, traceId, 4));
  t.same(upstream.received[0]?.values('traceparent'), [`00-${traceId}-${client.spanId}-01`]);
  t.same(upstream.received[0]?.values('tracestate'), []);
});

t.test('the sampled flag of a trace holds; without one, the ratio does', async (t) => {
  const { collector, upstream, call } = await traced(t, 'sample_ratio: 0');
  await call('/x', { traceparent: `00-${traceId}-${parentId}-00` });
  await call('/x', {});
  await call('/x', { traceparent: sampled });
  await trace(collector, traceId, 4);
  t.equal(collector.spans.length, 4, 'only of the one that was sampled');
  const [not, none] = upstream.received.map((received) => received.values('traceparent')[0] ?? '');
  t.match(
    not,
    new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`),
    'a trace that is not sampled goes on all the same',
  );
  t.notMatch(not, new RegExp(parentId));
  t.match(none, /-00$/);
});

t.test('refusals and failures are recorded where they happened', async (t) => {
  const { collector, call, key } = await traced(t, '', { upstream: 'http://127.0.0.1:1' });
  const own = async (headers: Record<string, string>, count: number, authorization?: string) => {
    collector.spans.length = 0;
    await call('/x', { traceparent: sampled, ...headers }, authorization);
    return byRole(await trace(collector, traceId, count));
  };
  const failed = await own({}, 4);
  t.match(failed.server, { failed: true, attributes: { 'error.type': 'upstream_unreachable' } });
  t.match(failed.client, { failed: true, attributes: { 'error.type': 'upstream_unreachable' } });
  t.match([failed.authenticate, failed.decide], [{ failed: false }, { failed: false }]);
  t.notOk('http.response.status_code' in failed.client.attributes);

  const unknown = await own({}, 2, 'Bearer nonsense');
  t.match(unknown.server, { failed: false, attributes: { 'http.response.status_code': 401 } });
  t.match(unknown.authenticate.attributes, { 'error.type': 'invalid_api_key' });

  const foreign = await own({ 'x-service-acting-tenant': 'ext:nobody' }, 3, `Bearer ${key}`);
  t.match(foreign.decide.attributes, { 'error.type': 'acting_tenant_unknown' });
  t.notOk('error.type' in foreign.authenticate.attributes);
});

t.test('an upstream that fails is an error of the client span', async (t) => {
  const { collector, call } = await traced(t, '', { status: 503 });
  await call('/x', { traceparent: sampled });
  const { client, server } = byRole(await trace(collector, traceId, 4));
  t.match(client, { failed: true, attributes: { 'error.type': '503', 'http.response.status_code': 503 } });
  t.match(server, { failed: true, attributes: { 'error.type': '503', 'http.response.status_code': 503 } });
});

t.test('management and what the ingress rejects are traced as well', async (t) => {
  const { collector, call } = await traced(t);
  t.equal((await call('/v1/sub-accounts', { traceparent: sampled })).status, 200);
  const [managed] = await trace(collector, traceId, 1);
  t.match(managed, { name: 'GET /v1/sub-accounts', kind: 'server', parentId });
  collector.spans.length = 0;
  t.equal((await call('/v1//sub-accounts', { traceparent: sampled })).status, 400);
  t.match(await trace(collector, traceId, 1), [{ attributes: { 'error.type': 'invalid_target' } }]);
});

t.test('a WebSocket is traced from its request to its end', async (t) => {
  const upstream = await startWebSocketUpstream(t);
  const { collector, key, port } = await traced(t, '', { upstream: upstream.url });
  const headers = { authorization: `Bearer ${key}`, traceparent: sampled };
  const { socket } = await openWebSocket(t, port, '/ws', headers);
  socket.close();
  const { client, server } = byRole(await trace(collector, traceId, 4));
  t.equal(upstream.handshakes[0]?.headers['traceparent'], `00-${traceId}-${client.spanId}-01`);
  t.match(server.attributes, { 'http.response.status_code': 101 });
});

interface Setting {
  readonly collector: Collector;
  readonly key: string;
  readonly port: number;
  readonly upstream: Awaited<ReturnType<typeof startUpstream>>;
  readonly call: (
    target: string,
    headers: Record<string, string>,
    authorization?: string,
  ) => Promise<Response>;
}

async function traced(t: Scope, settings = '', { status = 200, upstream: url = '' } = {}): Promise<Setting> {
  const collector = await startCollector(t);
  const upstream = await startUpstream(t, (_request, response) => response.writeHead(status).end('ok'));
  const tracing = `{ endpoint: "${collector.endpoint}", service_name: edge, ${settings} }`;
  const { key, origin, port } = await start(t, `upstream_url: ${url || upstream.url}\ntracing: ${tracing}`);
  return {
    collector,
    key,
    port,
    upstream,
    call: async (target, headers, authorization = `Bearer ${key}`) => {
      const answer = await fetch(origin + target, { headers: { authorization, ...headers } });
      await answer.arrayBuffer();
      return answer;
    },
  };
}

/** The spans of a trace, once there are `count` of them. */
async function trace(collector: Collector, id: string, count: number): Promise<CollectedSpan[]> {
  const own = () => collector.spans.filter((span) => span.traceId === id);
  await eventually(() => own().length >= count);
  return own();
}

function byRole(spans: readonly CollectedSpan[]) {
  const one = (isIt: (span: CollectedSpan) => boolean): CollectedSpan =>
    spans.find(isIt) ?? { ...(spans[0] as CollectedSpan), name: 'missing', attributes: {} };
  return {
    server: one(({ kind }) => kind === 'server'),
    authenticate: one(({ name }) => name === 'authenticate'),
    decide: one(({ name }) => name === 'decide'),
    client: one(({ kind }) => kind === 'client'),
  };
}
