/** What a store has to do with quotas. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { Store } from '../../src/adapters/postgres/store.ts';
import { noLimits } from '../../src/domain/limits/limits.ts';
import type { TokenAnswer, TokenQuestion, TokenStore } from '../../src/ports/limits/token-store.ts';
import { eventually } from '../support/eventually.ts';
import { createParent, createSub } from '../support/store.ts';
import { addUsage, usageRow } from '../support/usage-rows.ts';

type Answer = TokenAnswer & { readonly window: NonNullable<TokenAnswer['window']> };

/** A replica that asks about one quota. */
class Asking {
  spent = 0;
  hand = 0;
  series: number | null = null;
  left = NaN;
  readonly #store: TokenStore;
  readonly #limit: string;
  readonly #quota: number;

  constructor(store: TokenStore, limit: string, quota: number) {
    [this.#store, this.#limit, this.#quota] = [store, limit, quota];
  }

  question(given: Partial<TokenQuestion>): TokenQuestion {
    return {
      ...{ limit: this.#limit, period: 'month', capacity: this.#quota, perSecond: 0 },
      ...{ back: 0, needed: 0, ahead: 0, spent: this.spent, hand: this.hand, series: this.series },
      ...given,
    };
  }

  /** Asks, and keeps what is granted. */
  async ask(given: Partial<TokenQuestion> = {}): Promise<Answer> {
    const [answer] = await this.#store.ask([this.question(given)]);
    if (answer === undefined || answer instanceof Error || answer.window === undefined)
      throw new Error('no answer', { cause: answer });
    if (answer.window.series !== this.series) [this.spent, this.hand] = [answer.window.spent, 0];
    this.series = answer.window.series;
    this.hand += answer.granted;
    this.left = answer.left;
    return { ...answer, window: answer.window };
  }

  /** Asks for units, and spends what it gets. Returns how many that are. */
  async use(needed: number): Promise<number> {
    const { granted } = await this.ask({ needed });
    this.hand -= granted;
    this.spent += granted;
    return granted;
  }
}

export async function quotaContract(t: Test, store: Store): Promise<void> {
  const { tenants } = store;
  const replicas = ['a', 'b', 'c'].map((name) => store.quotas(`${name}-${randomUUID()}`)) as [
    TokenStore,
    TokenStore,
    TokenStore,
  ];
  const newLimit = (): string => `sub_account:${randomUUID()}:month`;

  await t.test('replicas share a quota to its last unit, and never more', async (t) => {
    const limit = newLimit();
    const all = replicas.map((replica) => new Asking(replica, limit, 100));
    let used = 0;
    for (let i = 0; i < 60; i++) used += (await all[i % 3]?.use(2)) ?? 0;
    t.equal(used, 100);
    t.same(
      all.map(({ left }) => left),
      [0, 0, 0],
    );
  });

  await t.test('a replica may spend more units than it was granted, and the others know', async (t) => {
    const limit = `${newLimit()}:units`;
    const [a, b] = [new Asking(replicas[0], limit, 100), new Asking(replicas[1], limit, 100)];
    t.equal(await a.use(1), 1);
    a.spent += 249;
    t.equal((await a.ask()).left, 0);
    t.equal(await b.use(1), 0);
    for (const replica of [a, b]) {
      replica.spent = Number.MAX_SAFE_INTEGER;
      t.equal((await replica.ask()).left, 0);
    }
    t.equal(await new Asking(replicas[2], limit, Number.MAX_SAFE_INTEGER).use(1), 0, 'however much that is');
  });

  await t.test('a quota of units begins with the units that were used in the month', async (t) => {
    const { id: parent } = await createParent(tenants);
    const { id: sub } = (await createSub(tenants, parent)).value;
    const nowMs = Date.now();
    await addUsage({ store }, [
      usageRow(sub, nowMs, { requests: 3, reads: 3, units: 40 }),
      usageRow(parent, nowMs, { requests: 1, reads: 1, units: 2 }),
    ]);
    const left = async (limit: string): Promise<number> =>
      (await new Asking(replicas[0], limit, 100).ask()).left;
    t.equal(await left(`sub_account:${sub}:month:units`), 60);
    t.equal(await left(`parent:${parent}:month:units`), 58);
    t.equal(await left(`parent:${parent}:month`), 96);
  });

  await t.test('the window is the present day or month of UTC', async (t) => {
    const { window } = await new Asking(replicas[0], newLimit(), 5).ask();
    const now = new Date();
    const [from, to] = [0, 1].map((next) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + next));
    t.equal(window.lengthMs, (to ?? 0) - (from ?? 0));
    t.ok(Math.abs(window.endsInMs - ((to ?? 0) - now.getTime())) < 60_000, `${window.endsInMs} ms`);
    const day = new Asking(replicas[0], newLimit().replace('month', 'day'), 5);
    const today = await day.ask({ period: 'day' });
    t.equal(today.window.lengthMs, 86_400_000);
    t.ok(today.window.endsInMs > 0 && today.window.endsInMs <= 86_400_000, `${today.window.endsInMs} ms`);
  });

  await t.test('a question that comes twice takes once', async (t) => {
    const limit = newLimit();
    const one = new Asking(replicas[0], limit, 10);
    await one.use(3);
    const question = one.question({ needed: 2 });
    await replicas[0].ask([question]);
    await replicas[0].ask([question]);
    await one.ask();
    t.equal(one.left, 7, 'what was granted to a question whose answer was lost is there again');
  });

  await t.test('units at hand that a replica no longer has are there for others', async (t) => {
    const limit = newLimit();
    const [one, other] = [new Asking(replicas[0], limit, 6_400), new Asking(replicas[1], limit, 6_400)];
    t.equal((await one.ask({ ahead: 500 })).granted, 100, 'a small part is given in advance');
    await other.ask();
    t.equal(other.left, 6_300);
    one.hand = 40;
    await one.ask();
    await other.ask();
    t.equal(other.left, 6_360);
  });

  await t.test('what was spent without asking counts', async (t) => {
    const limit = newLimit();
    const [one, other] = [new Asking(replicas[0], limit, 10), new Asking(replicas[1], limit, 10)];
    await one.ask();
    one.spent += 4;
    await one.ask();
    t.equal(await other.use(9), 6);
  });

  await t.test('a changed quota holds from the next question on', async (t) => {
    const limit = newLimit();
    await new Asking(replicas[0], limit, 10).use(8);
    t.equal(await new Asking(replicas[1], limit, 5).use(3), 0, 'lowered');
    t.equal(await new Asking(replicas[2], limit, 12).use(9), 4, 'raised');
  });

  await t.test('what was used before counts, also of a quota that is taken away and set again', async (t) => {
    const parent = await createParent(tenants);
    const [{ value: sub }, { value: other }] = [
      await createSub(tenants, parent.id),
      await createSub(tenants, parent.id),
    ];
    const row = (id: string, requests: number) => usageRow(id, Date.now(), { requests, reads: requests });
    await addUsage({ store }, [row(sub.id, 30), row(other.id, 12)]);
    const quota = (requestsPerMonth: number | null) =>
      tenants.updateSubAccount(parent.id, sub.id, { limits: { ...noLimits, requestsPerMonth } });
    await quota(100);
    const one = new Asking(replicas[0], `sub_account:${sub.id}:month`, 100);
    await one.ask();
    t.equal(one.left, 70);
    const whole = new Asking(replicas[0], `parent:${parent.id}:month`, 100);
    await whole.ask();
    t.equal(whole.left, 58);
    await one.use(10);
    await addUsage({ store }, [row(sub.id, 10)]);
    await one.ask();
    t.equal(one.left, 60, 'once');
    await quota(null);
    await addUsage({ store }, [row(sub.id, 5)]);
    await quota(100);
    await one.ask();
    t.equal(one.left, 55);
    t.equal(await one.use(60), 55);
  });

  await t.test(
    'a new quota counts what replicas had let through before they knew of it, each once',
    async (t) => {
      const parent = await createParent(tenants);
      const { value: sub } = await createSub(tenants, parent.id);
      const newest = async (): Promise<number> => (await store.log.replicas()).seq;
      const add = (requests: number, readThrough: number) =>
        addUsage(
          { store },
          [usageRow(sub.id, Date.now(), { requests, units: 2 * requests })],
          Infinity,
          readThrough,
        );
      const set = (limits: Partial<typeof noLimits>) =>
        tenants.updateSubAccount(parent.id, sub.id, { limits: { ...noLimits, ...limits } });
      const leftOf = async (limit: string, capacity: number): Promise<number> =>
        (
          await new Asking(replicas[2], limit, capacity).ask({
            period: limit.includes(':day') ? 'day' : 'month',
          })
        ).left;
      const month = `sub_account:${sub.id}:month`;
      const before = await newest();
      await set({ requestsPerMonth: 1_000 });
      const one = new Asking(replicas[0], month, 1_000);
      await one.use(5);
      await add(30, before);
      t.equal(await leftOf(month, 1_000), 965, 'the first to ask had begun the count');
      await add(5, await newest());
      t.equal(await leftOf(month, 1_000), 965, 'what one took was counted');
      const between = await newest();
      await set({ requestsPerMonth: 1_000, requestsPerDay: 500, unitsPerMonth: 300 });
      await add(7, between);
      t.equal(await leftOf(month, 1_000), 965, 'one that goes on counts nothing twice');
      t.equal(await leftOf(`sub_account:${sub.id}:day`, 500), 458, 'nobody had asked yet');
      t.equal(await leftOf(`${month}:units`, 300), 216);
      await add(8, between);
      t.equal(await leftOf(`sub_account:${sub.id}:day`, 500), 450);

      const plan = `plan-${randomUUID().slice(0, 8)}`;
      const terms = { limits: noLimits, maxSubAccounts: null, maxApiKeys: null };
      await tenants.putPlan(plan, terms);
      const { id } = await createParent(tenants, { plan });
      const { value: its } = await createSub(tenants, id);
      for (let round = 1; round <= 8; round++) {
        await tenants.putPlan(plan, terms);
        const seq = await newest();
        await tenants.putPlan(plan, { ...terms, limits: { ...noLimits, requestsPerDay: 10_000 } });
        const deliver = () =>
          addUsage({ store }, [usageRow(its.id, Date.now(), { requests: 10 })], Infinity, seq);
        const asking = new Asking(replicas[0], `parent:${id}:day`, 10_000);
        await Promise.all([deliver(), asking.ask({ period: 'day' }), deliver(), deliver()]);
        t.equal(
          await leftOf(`parent:${id}:day`, 10_000),
          10_000 - 30 * round,
          `by plan, all at once, ${round}`,
        );
      }
    },
  );

  await t.test('a quota leaves an event when it is near and when it is reached, each once', async (t) => {
    const parent = await createParent(tenants);
    const { value: sub } = await createSub(tenants, parent.id);
    const events = async () =>
      (await store.events.list({ account: parent.id }, { limit: 100 })).rows
        .toReversed()
        .flatMap(({ type, subAccountId, actor, subject }) =>
          subject.kind === 'quota' ? [{ type, subAccountId, actor: actor.kind, use: subject.after }] : [],
        );
    const become = (count: number) => eventually(async () => (await events()).length === count);
    const limit = `sub_account:${sub.id}:month`;
    const [one, other] = [new Asking(replicas[0], limit, 10), new Asking(replicas[1], limit, 10)];
    await one.use(7);
    await other.use(1);
    await become(1);
    await one.use(1);
    t.equal(await other.use(2), 1);
    await become(2);
    t.equal(await one.use(1), 0);
    const [now, about] = [new Date(), { subAccountId: sub.id, actor: 'system' }];
    const startsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
    const use = { period: 'month', unit: 'requests', quota: 10, startsAt };
    t.same(await events(), [
      { ...about, type: 'quota.near', use: { ...use, used: 8 } },
      { ...about, type: 'quota.reached', use: { ...use, used: 10 } },
    ]);

    const whole = new Asking(replicas[2], `parent:${parent.id}:month`, 4);
    await whole.use(4);
    await become(3);
    t.match((await events()).at(-1), {
      type: 'quota.reached',
      subAccountId: null,
      use: { quota: 4, used: 4 },
    });

    const quota = (requestsPerMonth: number) =>
      tenants.updateSubAccount(parent.id, sub.id, { limits: { ...noLimits, requestsPerMonth } });
    await quota(10);
    await addUsage({ store }, [usageRow(sub.id, Date.now(), { requests: 9, reads: 9 })]);
    await new Asking(replicas[2], limit, 10).ask();
    await become(4);
    await quota(20);
    const again = new Asking(replicas[0], limit, 20);
    await again.ask();
    t.equal(again.left, 11, 'less than half is used');
    await again.use(7);
    await become(5);
    t.match((await events()).at(-1), { type: 'quota.near', use: { quota: 20, used: 16 } });
  });

  await t.test('many quotas in one call, from many replicas at once', async (t) => {
    const limits = Array.from({ length: 50 }, newLimit);
    const question = (limit: string) => new Asking(replicas[0], limit, 10).question({ needed: 1 });
    const calls = await Promise.all(
      Array.from({ length: 24 }, (_, i) => {
        const asked = limits.map(question);
        return store.quotas(`many-${i}-${randomUUID()}`).ask(i % 2 === 0 ? asked : asked.toReversed());
      }),
    );
    const granted = calls.flat().reduce((sum, each) => sum + (each instanceof Error ? 0 : each.granted), 0);
    t.equal(granted, 10 * limits.length);
  });
}
