// class: hostile
/** The corpus of both modes, whole, and a little of what is drawn: `npm run fuzz` goes on for as long as is wanted. */
import t from 'tap';
import { freshDatabase } from '../../support/postgres.ts';
import { freshRedis } from '../../support/redis.ts';
import { runResponses } from './responses/run.ts';
import { asKept, corpusFile, readCorpus } from './corpus.ts';
import { escape, unescape } from './escape.ts';
import { clients } from './options.ts';
import { runRequests } from './requests/run.ts';
import { describe, Tally } from './tally.ts';
import { builtGateway } from './world.ts';

for (const client of clients) {
  for (const [name, run, count] of [
    ['an upstream sees what a client sent and may send, and nothing else', runRequests, 60],
    ['a client gets the response meant for it, a rejection, or a cut', runResponses, 150],
  ] as const) {
    t.test(`${client}: ${name}`, async (t) => {
      const tally = new Tally();
      await run(t, {
        databaseUrl: await freshDatabase(t),
        redisUrl: await freshRedis(t),
        gateway: builtGateway,
        client,
        seed: 1,
        count,
        until: () => false,
        tally,
      });
      t.same(tally.failures.map(describe), []);
      t.ok(tally.requests > count, `${tally.requests} requests`);
      for (const note of tally.notes) t.comment(note);
    });
  }
}

t.test('what is kept can be written down and read again', async (t) => {
  const odd = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).join('');
  for (const bytes of [odd, 'a'.repeat(5000), '\\{}'.repeat(40), 'x\r\n\r\n y'])
    t.equal(unescape(escape(bytes)), bytes);
  for (const file of Object.values(corpusFile)) {
    const kept = readCorpus(file);
    t.ok(kept.length > 50);
    for (const each of kept)
      t.equal(unescape(asKept(each).split('\n').slice(1).join('\n')), each.bytes, each.name);
  }
});
