/** Real gateways, a real PostgreSQL and a real Redis, with processes and connections going wrong. */
import t from 'tap';
import { runFaults } from './support/run.ts';

t.test('no decision by what was before a 2xx, whatever is killed, paused or cut', async (t) => {
  const outcome = await runFaults(t, {
    seed: 1,
    durationMs: 16_000,
    replicas: 3,
    leaseMs: 1_000,
    probePauseMs: 8,
    schedule: [
      'a replica is paused',
      'Redis is brought back to what it was',
      'a writer is killed between commit and answer',
      'connections to PostgreSQL are cut',
      'a replica cannot reach PostgreSQL',
      'Redis is paused',
      'PostgreSQL is killed',
    ],
  });
  t.same(outcome.stale, []);
  t.same(outcome.odd, []);
  t.ok(outcome.recovered, 'every replica recovers by itself');
  t.ok(outcome.observations > 1_000, `${outcome.observations} decisions were looked at`);
  t.ok(outcome.mutationMs.length > 30, `${outcome.mutationMs.length} mutations were answered`);
});
