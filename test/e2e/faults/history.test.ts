// class: pure
/** The checker of long runs checks while they go on: it must find what a check of the whole history would. */
import t from 'tap';
import { Random } from '../../support/coherence/random.ts';
import { anything, findStale, type Change, type Observation } from '../../support/coherence/staleness.ts';
import { History, type PendingChange } from './support/history.ts';

const runs = 300;
const steps = 200;

t.test('what is checked at once is checked as it would be at the end', async (t) => {
  let [stale, fine] = [0, 0];
  for (let seed = 1; seed <= runs; seed++) {
    const { history, changes, observations } = live(new Random(seed));
    const expected = findStale(changes, observations).map(({ observation }) => observation);
    const found = history.stale.map(({ observation }) => observation);
    t.same(new Set(found), new Set(expected), `seed ${seed}`);
    t.equal(history.decisions, observations.length);
    stale += found.length;
    fine += observations.length - found.length;
  }
  t.ok(stale > 1_000 && fine > 1_000, `${stale} stale and ${fine} others`);
});

/** Writers and probes of two objects that know nothing of one another, so that many probes show what was before. */
function live(random: Random): { history: History; changes: Change[]; observations: Observation[] } {
  let now = 0;
  const history = new History(() => now);
  const changes: (Change & { value: unknown; responded: number | null })[] = [];
  const observations: Observation[] = [];
  const pending = new Map<
    string,
    { readonly change: (typeof changes)[number]; readonly handle: PendingChange }
  >();
  const values = ['a', 'b', 'c'];

  for (const object of ['one', 'two']) {
    history.begin(object, 'a');
    changes.push({ object, value: 'a', invoked: 0, responded: 0 });
  }
  for (let step = 0; step < steps; step++) {
    now += random.between(1, 10);
    const object = random.pick(['one', 'two']);
    const open = pending.get(object);
    if (random.chance(0.6)) {
      const began = Math.max(0, now - random.between(0, 30));
      const seen = { object, value: random.pick(values), began, ended: now, by: 'nobody' };
      observations.push(seen);
      history.observe(seen);
    } else if (open === undefined) {
      const value = random.chance(0.3) ? anything : random.pick(values);
      const change = { object, value, invoked: now, responded: null };
      changes.push(change);
      pending.set(object, { change, handle: history.change(object, value) });
    } else {
      pending.delete(object);
      if (open.change.value === anything) {
        open.change.value = random.pick(values);
        open.handle.became(open.change.value);
      }
      if (random.chance(0.8)) {
        open.change.responded = now;
        open.handle.responded();
      }
    }
  }
  history.close();
  return { history, changes, observations };
}
