// class: real
/** Workers that end: what they held is all that is lost, and others take their places. */
import { existsSync } from 'node:fs';
import t from 'tap';
import { eventually } from '../../support/eventually.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { allReady, ask, metric, startWorkers } from '../../support/workers.ts';

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

t.test('a worker that hangs is killed, and what was on its way to it is served by another one', async (t) => {
  const upstream = await startUpstream(t);
  const { program, port, key, internalUrl, pids } = await startWorkers(t, { UPSTREAM_URL: upstream.url });
  const [victim = 0] = pids();
  const stoppedMs = performance.now();
  process.kill(victim, 'SIGSTOP');
  const asked = Array.from({ length: 6 }, () => ask(t, port, key));
  for (const { status } of await Promise.all(asked)) t.equal(status, 200);
  t.comment(`served ${Math.round(performance.now() - stoppedMs)} ms after the worker was stopped`);
  await eventually(() => pids().length === 2 && !pids().includes(victim));
  await allReady(internalUrl, 2);
  t.match(
    program.log().find(({ msg }) => msg === 'a worker hangs: it is killed'),
    { level: 'error', worker: 1, pid: victim },
  );
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

t.test('a primary that is killed takes its workers with it', async (t) => {
  const upstream = await startUpstream(t);
  const { program, pids } = await startWorkers(t, { UPSTREAM_URL: upstream.url });
  const all = pids();
  await program.kill('SIGKILL');
  await eventually(() => all.every((pid) => !existsSync(`/proc/${pid}`)));
});
