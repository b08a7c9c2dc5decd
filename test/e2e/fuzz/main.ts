/** `npm run fuzz -- --minutes 5 --seed 7`: a long run. Ends with 1 where something was wrong. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../support/postgres.ts';
import { startRedis } from '../../support/redis.ts';
import { runResponses } from './responses/run.ts';
import { readCorpus } from './corpus.ts';
import { clients } from './options.ts';
import { runRequests } from './requests/run.ts';
import { describe, progress, summary, table, Tally } from './tally.ts';
import { builtGateway } from './world.ts';

const usage = `npm run fuzz -- [options]
  --minutes N      how long (1)
  --seed N         what is sent (drawn and printed)
  --count N        stop after so many drawn inputs
  --only MODE      requests: hostile clients; responses: hostile upstreams (both, one after the other)
  --client NAME    native or undici: what the gateway forwards with (native)
  --replay FILE    send what stands in a file, as it is printed for a failure; needs --only
  --most N         end after so many failures (5)
  --show N         failures to print in full (3)
  --gateway FILE   main.js or main.ts of another gateway, to see whether its faults are found
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    count: { type: 'string', default: 'Infinity' },
    only: { type: 'string' },
    client: { type: 'string', default: 'native' },
    replay: { type: 'string' },
    most: { type: 'string', default: '5' },
    show: { type: 'string', default: '3' },
    gateway: { type: 'string', default: builtGateway },
    help: { type: 'boolean', default: false },
  },
});

const modes = { requests: runRequests, responses: runResponses };
const { only } = values;

if (values.help) {
  process.stdout.write(usage);
} else {
  const names = (Object.keys(modes) as (keyof typeof modes)[]).filter((name) => (only ?? name) === name);
  const client = clients.find((name) => name === values.client);
  if (client === undefined || names.length === 0 || (values.replay !== undefined && only === undefined)) {
    process.stderr.write(usage);
    process.exit(2);
  }
  const seed = Number(values.seed);
  say(`client ${client}, seed ${seed}`);
  const ends: (() => unknown)[] = [];
  const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
  try {
    for (const mode of names) {
      // Each mode makes the same accounts, so it needs a database of its own.
      const [postgres, redis] = await Promise.all([startPostgres(scope), startRedis(scope)]);
      const tally = new Tally(Number(values.most));
      const began = performance.now();
      const seconds = (): number => (performance.now() - began) / 1000;
      const limit = (Number(values.minutes) * 60) / names.length;
      const telling = setInterval(
        () => say(`${seconds().toFixed(0).padStart(5)} s  ${mode}: ${progress(tally, seconds())}`),
        5_000,
      );
      try {
        await modes[mode](scope, {
          databaseUrl: postgres.url,
          redisUrl: redis.url,
          gateway: resolve(values.gateway),
          client,
          seed,
          count: Number(values.count),
          until: () => seconds() > limit,
          tally,
          say,
          ...(values.replay !== undefined && { only: readCorpus(values.replay) }),
        });
      } finally {
        clearInterval(telling);
      }
      say(`\n${mode}: ${progress(tally, seconds())}\n${table(tally)}`);
      for (const failure of tally.failures.slice(0, Number(values.show))) say(describe(failure));
      say(`${mode}: ${tally.failures.length} failures in ${seconds().toFixed(1)} s\n${summary(tally)}`);
      if (tally.failures.length > 0) process.exitCode = 1;
    }
  } finally {
    for (const end of ends) await end();
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
