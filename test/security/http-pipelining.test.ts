// class: app
import type { Socket } from 'node:net';
import t from 'tap';
import { eventually, startGateway } from '../support/gateway.ts';
import { rawClient, requestText } from '../support/raw-client.ts';
import { startRawUpstream, startUpstream } from '../support/upstreams.ts';
import { Random, seedOfRun } from '../support/coherence/random.ts';

const drawn = new Random(seedOfRun);

t.test(
  'requests pipelined with different keys each get their own identity and their own response',
  async (t) => {
    // The first ones get their responses last.
    const upstream = await startUpstream(t, ({ target, values }, response) => {
      const tenant = values('x-service-resolved-tenant').join();
      setTimeout(() => response.end(`${target} ${tenant}`), 60 - 5 * Number(target.slice(1)));
    });
    const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
    const holders = [parent, directory.addParent(), directory.addSubAccount(parent), directory.addParent()];
    const client = await rawClient(t, port);
    const requests = Array.from({ length: 10 }, (_, i) => {
      const holder = holders[i % holders.length];
      return {
        target: `/${i}`,
        holder,
        text: requestText('GET', `/${i}`, [['Authorization', `Bearer ${holder?.key}`]]),
      };
    });
    client.send(requests.map(({ text }) => text).join(''));
    for (const { target, holder } of requests) {
      const response = await client.response();
      t.equal(response.body, `${target} ${holder?.id}`);
      t.equal(response.headers['x-service-resolved-tenant'], holder?.id);
    }
  },
);

t.test(
  'a rejected request in the middle takes nothing from its neighbours, and gives them nothing',
  async (t) => {
    const upstream = await startUpstream(t, ({ values }, response) => {
      response.end(values('x-service-resolved-tenant').join());
    });
    const { port, parent, directory } = await startGateway(t, { routes: { '/': upstream.url } });
    const other = directory.addParent();
    const client = await rawClient(t, port);
    const authorization = (key: string): [string, string] => ['Authorization', `Bearer ${key}`];
    client.send(
      requestText('POST', '/', [authorization(parent.key)], 'one') +
        requestText('POST', '/', [], 'two') +
        requestText('POST', '/', [authorization(other.key)], 'three') +
        requestText('GET', '/v1/%2e/sub-accounts', [authorization(parent.key)]) +
        requestText('GET', '/', [authorization(parent.key)]),
    );
    t.equal((await client.response()).body, parent.id);
    t.equal((await client.response()).status, 401);
    t.equal((await client.response()).body, other.id);
    t.equal((await client.response()).status, 400);
    t.equal((await client.response()).body, parent.id);
  },
);

t.test(
  'requests reach the upstream in the order they were sent, each when its predecessor is answered',
  async (t) => {
    const log: string[] = [];
    const upstream = await startUpstream(t, ({ method, target }, response) => {
      log.push(`${method} ${target}`);
      // The earlier a request, the longer it takes.
      setTimeout(
        () => {
          log.push(`answer to ${target}`);
          response.end('done');
        },
        40 / Number(target.slice(1)),
      );
    });
    const { port, parent } = await startGateway(t, { routes: { '/': upstream.url } });
    const authorization: [string, string] = ['Authorization', `Bearer ${parent.key}`];
    for (let round = 0; round < 10; round += 1) {
      log.length = 0;
      const client = await rawClient(t, port);
      client.send(
        requestText('PUT', '/1', [authorization], 'body') +
          requestText('DELETE', '/2', [authorization]) +
          requestText('POST', '/3', [authorization], 'body') +
          requestText('GET', '/4', [authorization]),
      );
      for (const method of ['PUT', 'DELETE', 'POST', 'GET']) await client.response(method);
      t.same(
        log,
        ['PUT /1', 'DELETE /2', 'POST /3', 'GET /4'].flatMap((line) => [
          line,
          `answer to ${line.split(' ')[1]}`,
        ]),
      );
      client.socket.destroy();
    }
  },
);

t.test('when the connection ends, requests that wait for their turn on it reach no upstream', async (t) => {
  let open = 0;
  const upstream = await startRawUpstream(t, () => (_request, response) => {
    open += 1;
    response.on('close', () => (open -= 1));
  });
  const { port, parent, finished } = await startGateway(t, { routes: { '/': upstream.url } });
  for (const end of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.resetAndDestroy()]) {
    upstream.heads = 0;
    finished.length = 0;
    const client = await rawClient(t, port);
    for (let i = 0; i < 20; i++)
      client.send(requestText('DELETE', `/${i}`, [['Authorization', `Bearer ${parent.key}`]]));
    await eventually(() => open === 1, 'the first request');
    end(client.socket);
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
