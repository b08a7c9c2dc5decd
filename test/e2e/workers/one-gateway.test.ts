// class: real
/** Several processes that share the listeners (WORKERS): to the outside they are one gateway, which starts as one or not at all. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { becomes, cli, startProcess, tempFolder } from '../../support/process.ts';
import { rawSql } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { ask, metric, servedBy, startWorkers } from '../../support/workers.ts';

t.test('each worker is a replica and takes its share; to the outside they are one', async (t) => {
  const upstream = await startUpstream(t);
  const { program, env, port, key, internalUrl, databaseUrl } = await startWorkers(t, {
    UPSTREAM_URL: upstream.url,
  });
  t.equal((await rawSql(t, databaseUrl)`select from replica`).length, 2);

  for (let i = 0; i < 10; i++) t.equal((await ask(t, port, key)).status, 200);
  await eventually(() => servedBy(program, /^\/x$/).length === 2);
  t.same(servedBy(program, /^\/x$/), [1, 2], 'each line of the log names its worker');

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
