// class: app
import { createHook } from 'node:async_hooks';
import { lookup } from 'node:dns/promises';
import { join } from 'node:path';
import t from 'tap';
import { systemTimers } from '../../src/ports/timers.ts';
import { resolver } from '../../src/proxy/upstream/resolver.ts';
import { eventually, startGateway } from '../support/gateway.ts';
import { lookupWith, nameServer, type Said } from '../support/names.ts';
import { startUpstream } from '../support/upstreams.ts';

const slowNames = 20;

t.test('names that resolve slowly cost the requests to them, and nobody else', async (t) => {
  const found: Said = { addresses: ['127.0.0.1'], ttlS: 1 };
  let answer = (): void => undefined;
  const atLast = new Promise<Said>((resolve) => (answer = () => resolve(found)));
  const server = await nameServer(t, (question) => (question.includes('slow') ? atLast : found));
  const none = join(t.testdir({}), 'none');
  const upstream = await startUpstream(t, (_request, response) =>
    response.writeHead(200, { connection: 'close' }).end(),
  );
  const at = (name: string): string => `http://${name}.test:${upstream.port}`;
  const names = Array.from({ length: slowNames }, (_, i) => `slow${i}`);
  const { call, finished } = await startGateway(t, {
    routes: { '/': at('orders'), ...Object.fromEntries(names.map((name) => [`/${name}`, at(name)])) },
    lookup: lookupWith(resolver(systemTimers, none, none, [server.address])),
  });
  let inThreads = 0;
  // A look-up by getaddrinfo, which holds one of libuv's threads until it ends.
  const init = (_: number, type: string): void => void (inThreads += Number(type === 'GETADDRINFOREQWRAP'));
  const hook = createHook({ init }).enable();
  t.teardown(() => hook.disable());
  const slow = names.flatMap((name) => Array.from({ length: 5 }, () => call('GET', `/${name}`)));
  await eventually(() => inThreads > 0 || names.every((name) => server.asked.includes(`A ${name}.test`)));
  t.equal(inThreads, 0, 'no look-up of an upstream takes a thread');
  for (let i = 0; i < 5; i++) t.equal((await call('GET', '/')).status, 200, 'another upstream');
  t.ok(await lookup('localhost'), 'what PostgreSQL and Redis are looked up by');
  t.equal(inThreads, 1, 'and that one does');
  t.equal(finished.length, 5, 'meanwhile nobody has got an answer from a slow name');
  t.equal(server.asked.filter((each) => each.startsWith('A slow')).length, slowNames, 'look-ups are joined');
  answer();
  for (const response of slow) t.equal((await response).status, 200);
});
