// class: night
/**
 * What a tenant that sends 20 times its limit costs the others, in a process of its own: 429s have to be cheap.
 *
 * TEST_LIMITS_LOUD says how many requests a second that tenant sends (300).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { makeParents, operatorToken } from '../../support/apis.ts';
import { httpClient, type Call } from '../../support/http-client.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { becomes, startProcess } from '../../support/process.ts';
import { migrated } from '../../support/store.ts';
import { startUpstream } from '../../support/upstreams.ts';
import { ReplicaLoad, type Tenant } from './support/replica-load.ts';

const loudPerSecond = Number(process.env['TEST_LIMITS_LOUD'] ?? 300);
const quietPerSecond = 100;
const roundMs = 4_000;
/** The median of at least so many rounds; a machine that has other things to do makes some of them worse, and may have more. */
const leastRounds = 5;
const mostRounds = 21;

t.test(
  'one tenant at 20 times its limit: the p99 of another one is at most twice what it is alone',
  { timeout: 600_000 },
  async (t) => {
    const upstream = await startUpstream(t);
    const gateway = await startProcess(t, {
      DATABASE_URL: await freshDatabase(t, migrated),
      UPSTREAM_URL: upstream.url,
      ADMIN_TOKEN: operatorToken,
      LOG_LEVEL: 'warn',
    });
    await becomes(gateway.internalUrl, 200);
    const internal = httpClient(t, gateway.internalUrl);
    const operator: Call = (method, path, more) =>
      internal(method, `/admin/v1${path}`, { key: operatorToken, ...more });
    const parent = await makeParents(httpClient(t, gateway.url), operator)();
    const tenant = async (limits: object, perSecond: number): Promise<Tenant> => {
      const sub = await parent.create({ name: 'tenant', limits });
      return { name: sub.id, key: await sub.mint(), perSecond };
    };
    const quiet = await tenant({ requests_per_second: 10 * quietPerSecond }, quietPerSecond);
    const loud = await tenant({ requests_per_second: loudPerSecond / 20 }, 0);
    const load = new ReplicaLoad([gateway.url], [quiet, loud]);
    t.teardown(() => load.stop());
    load.parts = [1];
    await sleep(2_000);

    const rounds: { readonly alone: number; readonly beside: number }[] = [];
    // Other load makes some rounds worse; a limiter that lets a neighbour suffer makes every round bad.
    const times = (): number => lowerQuartile(rounds.map(({ alone, beside }) => beside / alone));
    while (rounds.length < leastRounds || (times() > 2 && rounds.length < mostRounds)) {
      const measure = async (perSecond: number): Promise<number> => {
        loud.perSecond = perSecond;
        await sleep(500);
        const fromMs = load.nowMs;
        await sleep(roundMs);
        return p99(load, quiet, fromMs, load.nowMs);
      };
      const round = { alone: await measure(0), beside: await measure(loudPerSecond) };
      rounds.push(round);
      // A file that asserts nothing for minutes is ended before it can say what it measured.
      t.pass(`p99 ${round.alone.toFixed(1)} ms alone, ${round.beside.toFixed(1)} ms beside the other`);
    }

    const rejected = load.sent.filter(({ tenant, status }) => tenant === loud && status === 429).length;
    const all = load.sent.filter(({ tenant }) => tenant === loud).length;
    t.comment(JSON.stringify({ loudPerSecond, quietPerSecond, p99Ms: rounds, rejected: rejected / all }));
    t.ok(times() <= 2, `${times().toFixed(2)} times`);
    t.ok(rejected / all > 0.8, 'it was beyond its limit');
    t.same(
      [...new Set(load.sent.filter(({ tenant }) => tenant === quiet).map(({ status }) => status))],
      [200],
      'and the other one was not limited',
    );
  },
);

function p99(load: ReplicaLoad, of: Tenant, fromMs: number, toMs: number): number {
  const took = load.sent
    .filter(({ tenant, atMs }) => tenant === of && atMs >= fromMs && atMs <= toMs)
    .map(({ tookMs }) => tookMs)
    .sort((a, b) => a - b);
  return took[Math.floor(took.length * 0.99)] ?? Infinity;
}

function lowerQuartile(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 4)] ?? NaN;
}
