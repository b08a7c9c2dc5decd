// class: app
/** A request is decided by what is known when it is sent, however long it has waited, and not at all where nothing is. */
import t from 'tap';
import { ProblemError } from '../../src/domain/problem.ts';
import { factKey } from '../../src/ports/facts.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startUpstream } from '../support/upstreams.ts';

t.test('a request that waits for a connection is decided again in the tick that sends it', async (t) => {
  const responses: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => responses.push(() => response.end('ok')));
  const { call, parent, directory } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 1 } },
  });
  const other = directory.addParent();
  const first = call('GET', '/first', { key: other.key });
  await eventually(() => responses.length === 1, 'the first request');

  const decisions = directory.decisions;
  const second = call('POST', '/second', { body: 'body' });
  await eventually(() => directory.decisions > decisions, 'the decision about the second');
  t.equal(directory.revoke(parent.revoked), 0, 'nothing was sent yet');
  responses[0]?.();
  t.equal((await first).status, 200);
  const rejected = await second;
  t.equal(rejected.status, 401);
  t.equal(rejected.json().code, 'api_key_revoked');
  t.equal(upstream.heads, 1);
});

t.test('a request that waits for a connection says what the external_ids are when it is sent', async (t) => {
  const responses: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => responses.push(() => response.end('ok')));
  const { call, parent, directory } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 1 } },
  });
  const child = directory.addSubAccount(parent, 'child');
  for (const [renamed, name] of [
    [child, 'x-service-resolved-external-id'],
    [parent, 'x-service-parent-external-id'],
  ] as const) {
    responses.length = 0;
    const first = call('GET', '/first', { key: directory.addParent().key });
    await eventually(() => responses.length === 1, 'the first request');
    const decisions = directory.decisions;
    const headers: [string, string][] = [['X-Service-Acting-Tenant', child.id]];
    const second = call('POST', '/second', { body: 'body', headers });
    await eventually(() => directory.decisions > decisions, 'the decision about the second');
    directory.rename(renamed, 'renamed');
    responses[0]?.();
    await first;
    await eventually(() => responses.length === 2, 'the second request');
    responses[1]?.();
    t.equal((await second).status, 200);
    t.same(upstream.received.at(-1)?.values(name), ['renamed'], name);
    t.equal(upstream.received.at(-1)?.body.toString(), 'body');
  }
});

t.test('one that has to load facts for that goes on when they are there, body and all', async (t) => {
  const responses: (() => void)[] = [];
  const upstream = await startUpstream(t, (_request, response) => responses.push(() => response.end('ok')));
  const { call, parent, directory, finished } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 1 } },
    limits: { inFlightPerTenant: 2 },
  });
  const first = call('GET', '/first');
  await eventually(() => responses.length === 1, 'the first request');
  const decisions = directory.decisions;
  const second = call('POST', '/second', { body: 'body' });
  await eventually(() => directory.decisions > decisions, 'the decision about the second');
  directory.late.add(parent.keyKey);
  responses[0]?.();
  await first;
  await eventually(() => directory.waiting > 0, 'the load');
  directory.deliver();
  await eventually(() => responses.length === 2, 'the second request');
  t.equal(upstream.received[1]?.body.toString(), 'body');
  responses[1]?.();
  t.equal((await second).status, 200);
  await eventually(() => finished.length === 2, 'the records');
});

t.test('where nothing can be decided the response is 503, never 401 and never open', async (t) => {
  const upstream = await startUpstream(t);
  const { call, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  directory.failure = new ProblemError({ code: 'unavailable', detail: 'Later.', retryAfter: 2 });
  const response = await call('GET', '/');
  t.equal(response.status, 503);
  t.equal(response.json().code, 'unavailable');
  t.equal(response.headers['retry-after'], '2');
  t.equal(upstream.heads, 0);
});

t.test('a client that leaves while its request is decided leaves nothing behind', async (t) => {
  const upstream = await startUpstream(t);
  const { port, parent, directory, finished, call } = await startGateway(t, {
    routes: { '/': upstream.url },
    limits: { inFlightPerTenant: 1 },
  });
  directory.late.add(factKey.account(parent.id));
  const client = await rawClient(t, port);
  client.send(requestText('GET', '/', [['Authorization', `Bearer ${parent.key}`]]));
  await eventually(() => directory.waiting === 1, 'the decision');
  client.socket.destroy();
  await eventually(() => finished.length === 1, 'the record');
  directory.deliver();
  t.equal((await call('GET', '/')).status, 200, 'its place is free');
  t.equal(upstream.heads, 1);
});
