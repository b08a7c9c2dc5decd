// class: night
/**
 * Two gateways behind a balancer, restarted one after the other under load. For longer, and harder:
 * `npm run bench:rolling -- --seconds 60 --rate 500`.
 */
import t from 'tap';
import { freshDatabase } from '../../support/postgres.ts';
import { migrated } from '../../support/store.ts';
import { haproxyThere } from './support/haproxy.ts';
import { rollingRestarts } from './support/rolling.ts';

const noHaproxy =
  'NO ROLLING RESTART WAS TESTED: there is no HAProxy on this machine (apt-get install haproxy)';
if (!haproxyThere) process.stderr.write(`${noHaproxy}\n`);

const [seconds, perSecond] = [4, 100];

t.test(
  'both replicas restart under load: no request fails, no usage is lost, downloads come to their end',
  { skip: haproxyThere ? false : noHaproxy },
  async (t) => {
    const outcome = await rollingRestarts(t, {
      databaseUrl: await freshDatabase(t, migrated),
      seconds,
      perSecond,
    });
    const { sent, failures, slowestMs, restarts, downloads, counted } = outcome;
    t.same([...new Set(restarts.map(({ replica }) => replica))], [0, 1], 'each replica was restarted');
    t.same(
      restarts.map(({ exitCode }) => exitCode),
      restarts.map(() => 0),
      'each ended in order',
    );
    t.ok(
      restarts.every((restart) => restart.downloads >= 4),
      'with downloads under way',
    );
    t.same(failures, [], `${sent} requests, the slowest took ${Math.round(slowestMs)} ms`);
    t.ok(sent > 0.9 * perSecond * seconds, `${sent} requests were sent`);
    t.same(downloads.faults, []);
    t.equal(downloads.whole, downloads.begun, 'every download is whole');
    t.equal(counted, sent + downloads.begun, 'the report counts each request once');
    t.comment(`${sent} requests in ${outcome.seconds.toFixed(1)} s, slowest ${slowestMs} ms`);
  },
);
