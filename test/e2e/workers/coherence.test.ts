// class: night
/** Two gateways of two workers each, over a real PostgreSQL and a real Redis, with workers killed and paused. */
import t from 'tap';
import { runFaults } from '../faults/support/run.ts';

t.test('no worker decides by what was before a 2xx, whatever becomes of the others', async (t) => {
  const outcome = await runFaults(t, {
    seed: 1,
    durationMs: 15_000,
    atLeast: { decisions: 200, mutations: 10 },
    replicas: 2,
    workers: 2,
    leases: [800],
    probesAtOnce: 4,
    probePauseMs: 8,
    schedule: [
      'a worker is killed',
      'a worker is paused',
      'connections to PostgreSQL are cut',
      'a worker is paused',
      'a worker is killed',
      'a replica is killed',
    ],
  });
  t.same(outcome.stale, []);
  t.same(outcome.odd, []);
  t.ok(outcome.recovered, 'every gateway recovers by itself');
});
