// class: app
/** A request is decided by what is known when it is sent, however long it has waited, and not at all where nothing is. */
import t, { type Test } from 'tap';
import { ProblemError } from '../../src/domain/problem.ts';
import { factKey } from '../../src/ports/facts.ts';
import { eventually, startGateway, startProxied } from '../support/gateway.ts';
import { startUpstream } from '../support/upstreams.ts';

/** A request by the parent that waits for the only connection, which another parent has until it is released. */
async function waiting(t: Test) {
  const responses: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => responses.push(() => response.end('ok')));
  const gateway = await startGateway(t, { routes: { '/': { upstream: upstream.url, connections: 1 } } });
  const { call, directory, parent } = gateway;
  const child = directory.addSubAccount(parent, 'child');
  const first = call('GET', '/first', { key: directory.addParent().key });
  await eventually(() => responses.length === 1, 'the first request');
  const decisions = directory.decisions;
  const headers: [string, string][] = [['X-Service-Acting-Tenant', child.id]];
  const second = call('POST', '/second', { body: 'body', headers });
  await eventually(() => directory.decisions > decisions, 'the decision about the second');
  const release = async (): Promise<void> => {
    responses[0]?.();
    t.equal((await first).status, 200);
  };
  /** Answers the second one, which is to be whole. */
  const answered = async () => {
    await eventually(() => responses.length === 2, 'the second request');
    responses[1]?.();
    t.equal((await second).status, 200);
    const received = upstream.received.at(-1);
    t.equal(received?.body.toString(), 'body');
    return received;
  };
  return { ...gateway, upstream, child, second, release, answered };
}

t.test('a request that waits for a connection is decided again in the tick that sends it', async (t) => {
  const { directory, parent, upstream, second, release } = await waiting(t);
  t.equal(directory.revoke(parent.revoked), 0, 'nothing was sent yet');
  await release();
  t.match(await second, { status: 401, code: 'api_key_revoked' });
  t.equal(upstream.heads, 1);
});

t.test('a request that waits for a connection says what the external_ids are when it is sent', async (t) => {
  for (const [whose, name] of [
    ['child', 'x-service-resolved-external-id'],
    ['parent', 'x-service-parent-external-id'],
  ] as const) {
    const { directory, release, answered, ...accounts } = await waiting(t);
    directory.rename(accounts[whose], 'renamed');
    await release();
    t.same((await answered())?.values(name), ['renamed'], name);
  }
});

t.test('one that has to load facts for that goes on when they are there, body and all', async (t) => {
  const { directory, parent, finished, release, answered } = await waiting(t);
  directory.late.add(parent.keyKey);
  await release();
  await eventually(() => directory.waiting > 0, 'the load');
  directory.deliver();
  await answered();
  await eventually(() => finished.length === 2, 'the records');
});

t.test('where nothing can be decided the response is 503, never 401 and never open', async (t) => {
  const { upstream, call, directory } = await startProxied(t);
  directory.failure = new ProblemError({ code: 'unavailable', detail: 'Later.', retryAfter: 2 });
  const response = await call('GET', '/');
  t.match(response, { status: 503, code: 'unavailable' });
  t.equal(response.headers['retry-after'], '2');
  t.equal(upstream.heads, 0);
});

t.test('a client that leaves while its request is decided leaves nothing behind', async (t) => {
  const { upstream, parent, directory, finished, call, dial, requestOf } = await startProxied(t, {
    limits: { inFlightPerTenant: 1 },
  });
  directory.late.add(factKey.account(parent.id));
  const client = await dial(requestOf('GET', '/'));
  await eventually(() => directory.waiting === 1, 'the decision');
  client.socket.destroy();
  await eventually(() => finished.length === 1, 'the record');
  directory.deliver();
  t.equal((await call('GET', '/')).status, 200, 'its place is free');
  t.equal(upstream.heads, 1);
});
