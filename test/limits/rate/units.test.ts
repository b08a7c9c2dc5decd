// class: pure
/** What is promised of a quota of units, which are known only when the response comes; in virtual time. */
import t from 'tap';
import type { Full, LimitState, Taken } from '../../../src/ports/limits/rate-limiter.ts';
import { Random } from '../../support/coherence/random.ts';
import { World, type Replica } from '../../support/limits/world.ts';

const runs = Number(process.env['LIMIT_RUNS'] ?? 6);

/** Sends a request, and waits for what the limiter says. */
async function ask(world: World, replica: Replica): Promise<Taken | Full> {
  const asked = new Promise<Taken | Full>((resolve) => void world.ask(replica, resolve));
  await world.rest(60);
  return asked;
}

/** What is left of the limits, as a replica learns from the store. */
async function look(world: World, replica: Replica): Promise<readonly LimitState[]> {
  const limitedBy = { kind: 'sub_account', id: 'a', shown: true, limits: world.limits } as const;
  const looked = replica.limiter.look([limitedBy]);
  await world.rest(60);
  return looked;
}

/** One request after the other: each is sent when the client has the response to the one before. */
async function oneByOne(
  world: World,
  next: () => { readonly replica: Replica; readonly units: number },
  mayGoOn: (used: number) => boolean,
): Promise<{ readonly used: number; readonly admitted: number; readonly full: number }> {
  let [used, admitted, full] = [0, 0, 0];
  while (mayGoOn(used) && full < 20) {
    const { replica, units } = next();
    const result = await ask(world, replica);
    if (result.full) {
      full += 1;
      t.match(result, { kind: 'sub_account', period: 'month', unit: 'units' });
      continue;
    }
    used += units;
    admitted += 1;
    let isTold = result.takeUnits(units, () => (isTold = true));
    for (let i = 0; i < 20 && !isTold; i++) await world.step();
    t.ok(isTold, 'the client gets its response');
    // A request that was worth nothing gives its unit back.
    if (units === 0) await world.rest(20);
  }
  return { used, admitted, full };
}

void t.test(
  'a client that has a response finds its units taken, whichever replica it asks next',
  async (t) => {
    for (let seed = 1; seed <= runs; seed++) {
      const random = new Random(seed);
      const quota = random.pick([1, 10, 900, 1_000_000]);
      const rates = Array.from({ length: random.pick([1, 2, 5]) }, () => random.between(0.97, 1.03));
      const world = new World({ random, limits: { unitsPerMonth: quota }, rates });
      await world.rest(1_000);
      const most = Math.max(1, random.pick([quota / 20, quota / 5, quota * 3]));
      const next = () => ({ replica: random.pick(world.replicas), units: random.below(Math.ceil(most) + 1) });
      const { used, full } = await oneByOne(world, next, (all) => all < quota);
      t.equal(full, 0, `run ${seed}: nothing is refused while a unit is left`);
      const after = await oneByOne(world, next, () => true);
      // Of a large quota, a replica may have tokens on hand, which let through one more.
      const mayBe = quota < 1_000 ? 0 : rates.length;
      t.ok(after.admitted <= mayBe, `run ${seed}: ${used} of ${quota} are used, and every replica knows`);
    }
  },
);

void t.test('under load a quota of units is over by what is under way, and by a thousandth', async (t) => {
  for (let seed = 1; seed <= runs; seed++) {
    const random = new Random(100 + seed);
    const quota = random.pick([1_000, 100_000, 5_000_000]);
    const rates = Array.from({ length: random.pick([1, 3]) }, () => 1);
    const world = new World({ random, limits: { unitsPerMonth: quota }, rates, lost: 0.02 });
    await world.rest(1_000);
    const worth = quota / (3_000 * rates.length);
    let [used, underWay, mostUnderWay] = [0, 0, 0];
    const take = (result: Taken | Full): void => {
      if (result.full) return;
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      world.time.after(random.between(1, 40), () => {
        const units = random.below(2 * Math.ceil(worth) + 1);
        underWay -= 1;
        used += units;
        result.takeUnits(units, () => undefined);
      });
    };
    // Each lost answer keeps a replica waiting for more than a second, so this takes a while.
    let before: number;
    do {
      before = used;
      await world.run(10_000, () => rates.map(() => 200), take);
    } while (used > before);
    const most = quota * 1.001 + (mostUnderWay + rates.length) * 2 * Math.ceil(worth + 1) * 4;
    t.ok(used <= most, `run ${seed}: ${used} of ${quota}, at most ${most}`);
    t.ok(used >= quota - mostUnderWay - 200, `run ${seed}: ${used} of ${quota} were had`);
    t.ok(world.time.nowMs < 120_000, `run ${seed}: in ${world.time.nowMs} ms`);
    t.equal(world.replicas.filter((each) => world.ask(each)).length, 0, 'nothing is left anywhere');
  }
});

void t.test(
  'a response waits a second at most for a store that does not answer, and is counted later',
  async (t) => {
    const world = new World({ limits: { unitsPerMonth: 100 } });
    const [a, b] = world.replicas as [Replica, Replica];
    await world.rest(1_000);
    const first = await ask(world, a);
    world.storesAway = true;
    const began = world.time.nowMs;
    let toldMs = NaN;
    if (first.full || first.takeUnits(300, () => (toldMs = world.time.nowMs)))
      throw new Error('it is not told');
    await world.rest(1_100);
    t.ok(toldMs - began >= 990 && toldMs - began <= 1_010, `${toldMs - began} ms`);
    world.storesAway = false;
    await world.rest(2_000);
    const later = await ask(world, b);
    t.ok(later.full, 'the other replica knows of the units once the store can be reached');
  },
);

void t.test('a request without a response, or one that is never sent, takes no units', async (t) => {
  const world = new World({ limits: { unitsPerMonth: 1 } });
  await world.rest(1_000);
  for (let i = 0; i < 40; i++) {
    const result = await ask(world, world.replicas[0] as Replica);
    if (result.full) throw new Error(`the unit was gone after ${i} requests`);
    if (i % 2 === 0) result.takeUnits(0, () => undefined);
    else result.giveBack();
  }
  t.equal(world.waiting, 0);
});

void t.test('requests that take longer than a limit is in memory lose no units', async (t) => {
  const world = new World({ limits: { unitsPerMonth: 100_000 } });
  const [a, b] = world.replicas as [Replica, Replica];
  await world.rest(1_000);
  let used = 0;
  for (let i = 0; i < 6; i++) {
    const result = await ask(world, a);
    if (result.full) throw new Error('the quota is used up');
    world.time.after(40_000, () => {
      used += 1_000 * (i + 1);
      result.takeUnits(1_000 * (i + 1), () => undefined);
    });
    await world.rest(15_000);
  }
  await world.rest(60_000);
  t.equal(used, 21_000);
  const [state] = await look(world, b);
  t.equal(state?.remaining, 100_000 - used);
});
