import t from 'tap';
import { freshDatabase } from '../../support/postgres.ts';
import { freshRedis } from '../../support/redis.ts';
import { runResponses } from './responses/run.ts';
import { clients } from './options.ts';
import { runRequests } from './requests/run.ts';
import { describe, Tally } from './tally.ts';
import { builtGateway } from './world.ts';

/**
 * Defines the tests of both modes with both clients: the corpus, whole, and inputs that are drawn.
 * @param times how many times as many as in CI
 */
export function testInputs(seed: number, times: number): void {
  for (const client of clients) {
    for (const [name, run, count] of [
      ['an upstream sees what a client sent and may send, and nothing else', runRequests, 60],
      ['a client gets the response meant for it, a rejection, or a cut', runResponses, 150],
    ] as const) {
      t.test(`${client}, seed ${seed}: ${name}`, async (t) => {
        const tally = new Tally();
        await run(t, {
          databaseUrl: await freshDatabase(t),
          redisUrl: await freshRedis(t),
          gateway: builtGateway,
          client,
          seed,
          count: times * count,
          until: () => false,
          tally,
        });
        t.same(tally.failures.map(describe), []);
        t.ok(tally.requests > times * count, `${tally.requests} requests`);
        for (const note of tally.notes) t.comment(note);
      });
    }
  }
}
