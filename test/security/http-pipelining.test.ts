// class: app
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import type { Holder } from '../support/memory-directory.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';
import { Random, seedOfRun } from '../support/coherence/random.ts';

const drawn = new Random(seedOfRun);

t.test('requests pipelined with different keys each get their identity and response', async (t) => {
  // The first ones get their responses last.
  const upstream = await startUpstream(t, ({ target, values }, response) => {
    const tenant = values('x-service-resolved-tenant').join();
    setTimeout(() => response.end(`${target} ${tenant}`), 60 - 5 * Number(target.slice(1)));
  });
  const { dial, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  const holders = [parent, directory.addParent(), directory.addSubAccount(parent), directory.addParent()];
  const asked = Array.from({ length: 10 }, (_, i) => [`/${i}`, holders[i % 4] as Holder] as const);
  const text = ([target, { key }]: (typeof asked)[number]): string =>
    requestText('GET', target, [['Authorization', `Bearer ${key}`]]);
  const client = await dial(asked.map(text).join(''));
  for (const [target, { id }] of asked) {
    const { body, headers } = await client.response();
    t.same([body, headers['x-service-resolved-tenant']], [`${target} ${id}`, id]);
  }
});

t.test('a rejected request between others takes nothing from them and gives them nothing', async (t) => {
  const upstream = await startUpstream(t, ({ values }, response) => {
    response.end(values('x-service-resolved-tenant').join());
  });
  const { dial, requestOf, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
  const other = directory.addParent();
  const client = await dial(
    requestOf('POST', '/', [], 'one') +
      requestText('POST', '/', [], 'two') +
      requestText('POST', '/', [['Authorization', `Bearer ${other.key}`]], 'three') +
      requestOf('GET', '/v1/%2e/sub-accounts') +
      requestOf('GET', '/'),
  );
  const outcomes: unknown[] = [];
  for (let i = 0; i < 5; i++) {
    const { status, body } = await client.response();
    outcomes.push(status === 200 ? body : status);
  }
  t.same(outcomes, [parent.id, 401, other.id, 400, parent.id]);
});

t.test('requests reach the upstream in order, each when its predecessor is answered', async (t) => {
  const log: string[] = [];
  const upstream = await startUpstream(t, ({ method, target }, response) => {
    log.push(`${method} ${target}`);
    const answer = (): void => {
      log.push(`answer to ${target}`);
      response.end('done');
    };
    // The earlier a request, the longer it takes.
    setTimeout(answer, 40 / Number(target.slice(1)));
  });
  const { dial, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  const asked = ['PUT /1', 'DELETE /2', 'POST /3', 'GET /4'].map((line) => line.split(' '));
  for (let round = 0; round < 10; round += 1) {
    log.length = 0;
    const text = ([method = '', target = '']: string[]): string => requestOf(method, target, [], 'body');
    const client = await dial(asked.map(text).join(''));
    for (const [method] of asked) await client.response(method);
    const expected = asked.flatMap(([method, target]) => [`${method} ${target}`, `answer to ${target}`]);
    t.same(log, expected);
    client.socket.destroy();
  }
});

t.test('when the connection ends, requests that wait for their turn on it reach no upstream', async (t) => {
  let open = 0;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
  });
  const { port, finished, requestOf } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
    upstream.heads = 0;
    finished.length = 0;
    const client = await rawClient(t, port);
    for (let i = 0; i < 20; i++) client.send(requestOf('DELETE', `/${i}`));
    await eventually(() => open === 1, 'the first request');
    client.socket[end]();
    await eventually(() => open === 0 && finished.length === 1, 'its end');
    t.match(finished, [{ path: '/0', code: 'client_gone' }]);
    t.equal(upstream.heads, 1);
  }
});

t.test('however many requests are pipelined, each gets its response', async (t) => {
  const upstream = await startUpstream(t, ({ target }, response) => response.end(target));
  const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
  const client = await rawClient(t, port);
  const targets = Array.from({ length: 3000 }, (_, i) => `/${i}`);
  const headers = [['Authorization', `Bearer ${parent.key}`]] as const;
  client.send(targets.map((target) => requestText('DELETE', target, headers)).join(''));
  for (const target of targets) {
    const { body } = await client.response();
    if (body !== target) return t.fail(`${target} got the response to ${body}`);
  }
  t.same(
    upstream.received.map(({ target }) => target),
    targets,
  );
});

t.test('requests of many tenants at once over few upstream connections are never mixed up', async (t) => {
  let busy = 0;
  let most = 0;
  const upstream = await startUpstream(t, ({ target, values, body }, response) => {
    const text = `${target} ${values('x-service-resolved-tenant').join()} ${body.toString()}`;
    most = Math.max(most, ++busy);
    setTimeout(() => {
      busy -= 1;
      response.end(text);
    }, drawn.next() * 5);
  });
  const { port, directory } = await startGateway(t, {
    routes: { '/': { upstream: upstream.url, connections: 3 } },
  });
  const clients = await Promise.all(
    Array.from({ length: 12 }, async () => ({
      client: await rawClient(t, port),
      holder: directory.addParent(),
    })),
  );
  await Promise.all(
    clients.map(async ({ client, holder }, c) => {
      for (let i = 0; i < 20; i++) {
        client.send(
          requestText('POST', `/${c}/${i}`, [['Authorization', `Bearer ${holder.key}`]], `body-${c}-${i}`),
        );
        const { body } = await client.response();
        if (body !== `/${c}/${i} ${holder.id} body-${c}-${i}`) t.fail(`client ${c} got: ${body}`);
      }
    }),
  );
  t.equal(upstream.received.length, 240);
  t.ok(most <= 3, `${most} at once`);
});
