// class: real
/** SIGHUP and SIGTERM to the primary: what they mean for all workers. */
import { existsSync } from 'node:fs';
import t from 'tap';
import { configFile } from '../../support/config-files.ts';
import { eventually } from '../../support/eventually.ts';
import { becomes } from '../../support/process.ts';
import { named, replaceFile } from '../../support/reload.ts';
import { allReady, ask, onePerWorker, send, startWorkers } from '../../support/workers.ts';

t.test('SIGHUP: all workers use a good file, and none a bad one', async (t) => {
  const [before, after] = [await named(t, 'before'), await named(t, 'after')];
  const file = configFile(t, `upstream_url: ${before.url}`);
  const gateway = await startWorkers(t, { CONFIG: file });
  const { program, pids, internalUrl } = gateway;
  const clients = await onePerWorker(t, gateway);
  const bodies = async (): Promise<string[]> =>
    Promise.all(clients.map(async (client) => (await send(client, gateway.key)).body));

  replaceFile(file, `upstream_url: ${after.url}\nlisen: 1`);
  program.child.kill('SIGHUP');
  await program.prints(/not reloaded/);
  replaceFile(file, `upstream_url: ${after.url}\ncoherence: { lease_ms: 5000 }`);
  program.child.kill('SIGHUP');
  await program.prints(/takes effect only with a restart/);
  t.same(await bodies(), ['before', 'before']);

  replaceFile(file, `upstream_url: ${after.url}`);
  program.child.kill('SIGHUP');
  await program.prints(/was reloaded/);
  t.same(await bodies(), ['after', 'after']);
  t.equal(program.stdout.match(/not reloaded/g)?.length, 2, 'each is told once, not by each worker');

  // A worker that takes the place of another one begins with what was reloaded, not with a file that was rejected since.
  replaceFile(file, 'lisen: 1');
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
  // The primary says so before its workers have heard of it: until then a response leaves its connection open.
  await eventually(() => program.log().filter(({ msg }) => msg === 'draining').length === 2);
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
