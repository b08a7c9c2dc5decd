/** Several processes that share the listeners (WORKERS), seen from outside. */
import { once } from 'node:events';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { configFile } from '../support/config-files.ts';
import { eventually } from '../support/eventually.ts';
import { becomes, cli, startProcess, tempFolder } from '../support/process.ts';
import { RawClient, requestText } from '../support/raw-client.ts';
import { named } from '../support/reload.ts';
import { rawSql } from '../support/store.ts';
import { startUpstream } from '../support/upstreams.ts';
import { allReady, metric, startWorkers, type WorkersProcess } from '../support/workers.ts';

t.test('each worker is a replica and takes its share; to the outside they are one', async (t) => {
  const upstream = await startUpstream(t);
  const { program, env, port, key, internalUrl, databaseUrl } = await startWorkers(t, {
    UPSTREAM_URL: upstream.url,
  });
  t.equal((await rawSql(t, databaseUrl)`select from replica`).length, 2);

  for (let i = 0; i < 10; i++) t.equal((await ask(t, port, key)).status, 200);
  const served = (): Set<unknown> =>
    new Set(
      program
        .log()
        .filter(({ msg, path }) => msg === 'request' && path === '/x')
        .map(({ worker }) => worker),
    );
  await eventually(() => served().size === 2);
  t.same([...served()].sort(), [1, 2], 'each line of the log names its worker');

  // Whichever worker is asked, the figures are those of both.
  for (let i = 0; i < 4; i++) {
    t.equal(await metric(internalUrl, 'request_duration_seconds_count', 'route="/"'), 10);
    t.equal(await metric(internalUrl, 'build_info'), 1);
    t.ok(((await metric(internalUrl, 'lease_remaining_seconds')) ?? 9) <= 3, 'the shortest, not the sum');
    const replicas = JSON.parse((await cli(env, 'replicas', '--json')).stdout) as {
      data: { state: string }[];
    };
    t.same(
      replicas.data.map(({ state }) => state),
      ['live', 'live'],
    );
  }
  t.equal(await program.kill('SIGTERM'), 0);
  t.equal((await rawSql(t, databaseUrl)`select from replica`).length, 0, 'each gave its lease back');
});

t.test('a worker is killed: what was on its way to it goes to another one, and it is replaced', async (t) => {
  const upstream = await startUpstream(t);
  const { program, port, key, internalUrl, pids } = await startWorkers(t, { UPSTREAM_URL: upstream.url });
  for (let i = 0; i < 10; i++) await ask(t, port, key);
  const counted = await metric(internalUrl, 'request_duration_seconds_count', 'route="/"');
  const [victim = 0] = pids();
  // It accepts nothing more, and the primary does not know: one of these is on its way to it.
  process.kill(victim, 'SIGSTOP');
  const asked = Array.from({ length: 6 }, () => ask(t, port, key));
  await eventually(() => upstream.heads >= 15);
  process.kill(victim, 'SIGKILL');
  for (const { status } of await Promise.all(asked)) t.equal(status, 200);

  await eventually(() => pids().length === 2 && !pids().includes(victim));
  await allReady(internalUrl, 2);
  t.match(
    program.log().find(({ msg }) => msg === 'a worker died: another one takes its place'),
    { level: 'error', worker: 1, pid: victim, signal: 'SIGKILL', pause_ms: 0 },
  );
  t.equal(await metric(internalUrl, 'worker_restarts_total'), 1);
  const now = await metric(internalUrl, 'request_duration_seconds_count', 'route="/"');
  t.ok((now ?? 0) >= (counted ?? 0), 'no counter went back');
});

t.test('without a database, workers listen and say so', async (t) => {
  const { program, url, internalUrl } = await startProcess(t, {
    WORKERS: '2',
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    UPSTREAM_URL: 'http://127.0.0.1:2',
  });
  await becomes(internalUrl, 503, 'starting');
  t.equal((await fetch(`${internalUrl}/livez`)).status, 200);
  for (let i = 0; i < 4; i++)
    t.equal((await fetch(`${url}/x`, { headers: { authorization: 'Bearer x' } })).status, 401);
  t.equal(await program.kill('SIGTERM'), 0);
});

t.test('a port that is taken: one message, exit code 1, no process left', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { program } = await startProcess(t, {
    WORKERS: '2',
    PORT: String((taken.address() as AddressInfo).port),
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    UPSTREAM_URL: 'http://127.0.0.1:2',
  });
  t.equal(await program.ended(), 1);
  t.equal(program.stderr.match(/cannot listen on 127\.0\.0\.1:\d+: the port is taken/g)?.length, 1);
});

t.test('faults of the configuration are listed once, and nothing is started', async (t) => {
  const folder = tempFolder(t);
  const env = { WORKERS: '2', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'loud' };
  const { program } = await startProcess(t, env);
  t.equal(await program.ended(), 78);
  t.equal(program.stderr.match(/WORKERS +must be 1 on the embedded store/g)?.length, 1);
  t.equal(program.stderr.match(/LOG_LEVEL +must be one of/g)?.length, 1);
  t.equal(program.stdout, '');
  t.notOk(existsSync(env.DATA_DIR));
});

t.test('SIGHUP: all workers use a good file, and none a bad one', async (t) => {
  const [before, after] = [await named(t, 'before'), await named(t, 'after')];
  const file = configFile(t, `upstream_url: ${before.url}`);
  const gateway = await startWorkers(t, { CONFIG: file });
  const { program, pids, internalUrl } = gateway;
  const clients = await onePerWorker(t, gateway);
  const bodies = async (): Promise<string[]> =>
    Promise.all(clients.map(async (client) => (await send(client, gateway.key)).body));

  replace(file, `upstream_url: ${after.url}\nlisen: 1`);
  program.child.kill('SIGHUP');
  await program.prints(/not reloaded/);
  replace(file, `upstream_url: ${after.url}\ncoherence: { lease_ms: 5000 }`);
  program.child.kill('SIGHUP');
  await program.prints(/takes effect only with a restart/);
  t.same(await bodies(), ['before', 'before']);

  replace(file, `upstream_url: ${after.url}`);
  program.child.kill('SIGHUP');
  await program.prints(/was reloaded/);
  t.same(await bodies(), ['after', 'after']);
  t.equal(program.stdout.match(/not reloaded/g)?.length, 2, 'each is told once, not by each worker');

  // A worker that takes the place of another one begins with what was reloaded, not with a file that was rejected since.
  replace(file, 'lisen: 1');
  const [victim = 0] = pids();
  process.kill(victim, 'SIGKILL');
  await eventually(() => pids().length === 2 && !pids().includes(victim));
  await allReady(internalUrl, 2);
  for (let i = 0; i < 4; i++) t.equal((await ask(t, gateway.port, gateway.key)).body, 'after');
});

t.test('SIGTERM: every worker finishes what it has, and a second signal ends all at once', async (t) => {
  const held = await named(t, 'held', true);
  const gateway = await startWorkers(t, { UPSTREAM_URL: held.url });
  const { program, internalUrl, key } = gateway;
  const clients = await onePerWorker(t, gateway, (client) => send(client, key, '/v1/sub-accounts'));
  const underWay = clients.map((client) => send(client, key));
  await eventually(() => held.holding() === 2);
  program.child.kill('SIGTERM');
  await becomes(internalUrl, 503, 'draining');
  held.release();
  for (const { status, headers } of await Promise.all(underWay))
    t.match({ status, headers }, { status: 200, headers: { connection: 'close' } });
  t.equal(await program.ended(), 0);

  const second = await startWorkers(t, { UPSTREAM_URL: held.url });
  const cut = t.rejects(ask(t, second.port, second.key));
  await eventually(() => held.holding() === 3);
  const before = second.pids();
  second.program.child.kill('SIGTERM');
  await becomes(second.internalUrl, 503, 'draining');
  second.program.child.kill('SIGINT');
  t.equal(await second.program.ended(), 1);
  await cut;
  await eventually(() => before.every((pid) => !existsSync(`/proc/${pid}`)));
});

t.test('a worker that drains by itself is replaced, and requests go to the others', async (t) => {
  const upstream = await startUpstream(t);
  const { program, port, key, internalUrl, pids } = await startWorkers(t, { UPSTREAM_URL: upstream.url });
  const [first = 0] = pids();
  process.kill(first, 'SIGTERM');
  while (pids().includes(first)) t.equal((await ask(t, port, key)).status, 200);
  await allReady(internalUrl, 2);
  t.match(
    program.log().find(({ msg }) => msg === 'a worker has ended: another one takes its place'),
    { level: 'info', pid: first, code: 0 },
  );
});

t.test('workers that die at once are started ever more slowly, and the others serve', async (t) => {
  const upstream = await startUpstream(t);
  const flag = join(tempFolder(t), 'die');
  const script =
    `import { existsSync } from 'node:fs';` +
    `if (process.argv[1]?.endsWith('worker.js') && existsSync(${JSON.stringify(flag)})) process.exit(3);`;
  const { program, port, key, internalUrl, pids } = await startWorkers(t, {
    UPSTREAM_URL: upstream.url,
    NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(script)}"`,
  });
  writeFileSync(flag, '');
  process.kill(pids()[0] as number, 'SIGKILL');
  const pauses = (): unknown[] =>
    program
      .log()
      .filter(({ msg }) => String(msg).startsWith('a worker died'))
      .map(({ pause_ms: pause }) => pause);
  await eventually(async () => {
    t.equal((await ask(t, port, key)).status, 200);
    return pauses().length >= 3;
  });
  t.same(pauses().slice(0, 3), [0, 500, 1000]);
  t.equal((await fetch(`${internalUrl}/livez`)).status, 200);
  t.equal((await fetch(`${internalUrl}/readyz`)).status, 200);
  t.equal(await metric(internalUrl, 'workers'), 1);
  rmSync(flag);
  await allReady(internalUrl, 2);
});

t.test('a primary that is killed takes its workers with it', async (t) => {
  const upstream = await startUpstream(t);
  const { program, pids } = await startWorkers(t, { UPSTREAM_URL: upstream.url });
  const all = pids();
  await program.kill('SIGKILL');
  await eventually(() => all.every((pid) => !existsSync(`/proc/${pid}`)));
});

/** One kept connection to each worker: they take turns. */
async function onePerWorker(
  t: Test,
  { port, key, program }: WorkersProcess,
  first: (client: RawClient) => Promise<unknown> = (client) => send(client, key),
): Promise<RawClient[]> {
  const clients = [await open(t, port), await open(t, port)].map((socket) => new RawClient(socket));
  await Promise.all(clients.map(first));
  const workers = (): Set<unknown> =>
    new Set(
      program
        .log()
        .filter(({ msg }) => msg === 'request')
        .map(({ worker }) => worker),
    );
  await eventually(() => workers().size === 2);
  return clients;
}

async function open(t: Test, port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

function send(client: RawClient, key: string, path = '/x') {
  client.send(requestText('GET', path, [['Authorization', `Bearer ${key}`]]));
  return client.response();
}

/** On a connection of its own. */
async function ask(t: Test, port: number, key: string) {
  return send(new RawClient(await open(t, port)), key);
}

/** In one step: the process may be reading it. */
function replace(file: string, content: string): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}
