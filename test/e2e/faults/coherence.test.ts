// class: real
/** Real gateways, a real PostgreSQL and a real Redis, with processes and connections going wrong. */
import t from 'tap';
import { runFaults } from './support/run.ts';

t.test('no decision by what was before a 2xx, whatever is killed, paused or cut', async (t) => {
  const outcome = await runFaults(t, {
    seed: 1,
    durationMs: 28_000,
    atLeast: { decisions: 200, mutations: 15 },
    replicas: 3,
    leases: [800, 400, 800],
    clockError: 0.1,
    standby: true,
    probesAtOnce: 1,
    probePauseMs: 8,
    schedule: [
      'a replica cannot reach PostgreSQL',
      'a replica is paused',
      'Redis is brought back to what it was',
      'a replica is paused',
      'PostgreSQL fails over to its standby',
      'PostgreSQL fails over twice, to one timeline number',
      'a writer is killed between commit and response',
      'connections to PostgreSQL are cut',
      'Redis is paused',
      'PostgreSQL is killed',
    ],
  });
  t.same(outcome.stale, []);
  t.same(outcome.odd, []);
  t.ok(outcome.streamed > 0, 'streams passed bytes');
  t.ok(outcome.recovered, 'every replica recovers by itself');
});
