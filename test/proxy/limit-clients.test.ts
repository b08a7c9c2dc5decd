// class: app
/** Limits as published clients meet them. */
import t from 'tap';
import { parseList } from 'structured-headers';
import { Agent, fetch, request, RetryAgent } from 'undici';
import { eventually, startProxied } from '../support/gateway.ts';
import { OneReplicaLimiter } from '../support/one-replica-limiter.ts';

t.test('a published parser of structured fields reads what responses say of limits', async (t) => {
  const { port, directory, parent } = await startProxied(t, { rateLimiter: new OneReplicaLimiter() });
  const child = directory.addSubAccount(parent);
  directory.limitAccount(child, { requestsPerMonth: 1_000_000_000_000 });
  const { headers } = await fetch(`http://127.0.0.1:${port}/`, {
    headers: { authorization: `Bearer ${child.key}` },
  });
  const parsed = (name: string): unknown => {
    const list = parseList(headers.get(name) ?? '') as [unknown, Map<string, unknown>][];
    return list.map(([item, parameters]) => [item, Object.fromEntries(parameters)]);
  };
  const [quota, w] = [1_000_000_000_000, 2_592_000];
  t.same(parsed('ratelimit-policy'), [['sub_account-month', { q: quota, w }]]);
  t.same(parsed('ratelimit'), [['sub_account-month', { r: quota - 1, t: w }]]);
});

t.test("undici's RetryAgent waits for Retry-After, and then gets through", async (t) => {
  const rateLimiter = new OneReplicaLimiter();
  const { upstream, port, directory, parent, finished } = await startProxied(t, { rateLimiter });
  directory.limitKey(parent, { requestsPerSecond: 1 });
  // As docs/too-many-requests.md shows it.
  const dispatcher = new RetryAgent(new Agent(), {
    statusCodes: [429],
    methods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'POST', 'PATCH'],
  });
  t.teardown(() => dispatcher.close());
  const post = async (): Promise<number> => {
    const { statusCode, body } = await request(`http://127.0.0.1:${port}/`, {
      dispatcher,
      method: 'POST',
      headers: { authorization: `Bearer ${parent.key}` },
      body: 'x',
    });
    await body.dump();
    return statusCode;
  };
  t.equal(await post(), 200);
  const sentMs = performance.now();
  const second = post();
  await eventually(() => finished.some(({ code }) => code === 'rate_limited'), 'the 429');
  rateLimiter.nowS += 1;
  t.equal(await second, 200);
  const waitedMs = performance.now() - sentMs;
  // By itself it would wait for half a second.
  t.ok(waitedMs > 750, `it came again after ${Math.round(waitedMs)} ms`);
  t.equal(upstream.received.length, 2);
  t.same(
    upstream.received.map(({ body }) => body.toString()),
    ['x', 'x'],
  );
});
