// class: hostile
/** Each function that serves an exchange throws once: this exchange ends, and nothing else notices. */
import t from 'tap';
import { freshDatabase } from '../../support/postgres.ts';
import { allFaultPoints } from './fault-points.mjs';
import { kinds, type Begin } from './kinds.ts';
import { Gateway, type Trial } from './trial.ts';
import { startChaosUpstream } from './upstream.ts';

/** Kinds of exchanges in which a point is tried until it fires; the last that calls it comes behind them. */
const mostKinds = 3;
/** Gateways that are tried side by side; an exchange in which a point has fired mostly waits. */
const lanes = 3;
/** Part of the names of the points that are tried: `CHAOS=pool.ts npm test -- test/e2e/chaos`. */
const wanted = process.env['CHAOS'] ?? '';

t.test('an exception in any function that serves an exchange ends that exchange alone', async (t) => {
  const gateways = await Promise.all(
    Array.from({ length: lanes }, async () => {
      const upstream = await startChaosUpstream(t);
      return new Gateway(t, upstream, () => freshDatabase(t));
    }),
  );
  const all = (await allFaultPoints()).filter((id) => id.includes(wanted));
  const trials = new Map<string, Trial>();
  const toLookAt = Object.entries(kinds);
  const look = async (gateway: Gateway): Promise<void> => {
    for (let next = toLookAt.shift(); next !== undefined; next = toLookAt.shift()) {
      const [kind, begin] = next;
      for (const { point, timer } of await gateway.pointsOf(begin)) {
        const name = `${point}${timer ? ' in a timer' : ''}`;
        const trial = trials.get(name);
        if (trial !== undefined) trial.kinds.push(kind);
        else if (all.includes(point)) trials.set(name, { point, timer, kinds: [kind] });
      }
    }
  };
  await Promise.all(gateways.map(look));
  const order = Object.keys(kinds);
  for (const { kinds } of trials.values()) kinds.sort((a, b) => order.indexOf(a) - order.indexOf(b));

  const toTry = [...trials];
  const silent: string[] = [];
  const tryOut = async (gateway: Gateway): Promise<void> => {
    for (let next = toTry.shift(); next !== undefined; next = toTry.shift()) {
      const [name, trial] = next;
      let fired = false;
      for (const kind of new Set([...trial.kinds.slice(0, mostKinds), ...trial.kinds.slice(-1)])) {
        const run = await gateway.run(trial, kinds[kind] as Begin);
        t.same(run.harm, [], `${name}, ${kind}`);
        ({ fired } = run);
        if (fired) break;
      }
      if (!fired) silent.push(name);
    }
  };
  await Promise.all(gateways.map(tryOut));

  const called = new Set([...trials.values()].map(({ point }) => point));
  for (const point of all) if (!called.has(point)) t.comment(`never called: ${point}`);
  for (const name of silent) t.comment(`did not fire: ${name}`);
  const fired = trials.size - silent.length;
  t.comment(`${fired} of ${trials.size} fired, of ${all.length} points`);
  if (wanted === '') t.ok(fired > 350, `${fired} fired`);
});
