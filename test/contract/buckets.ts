/** What every store of buckets has to do. */
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { TokenAnswer, TokenQuestion, TokenStore } from '../../src/ports/limits/token-store.ts';

/** A rate at which nothing comes back while a test runs. */
const hardly = 0.000_001;

/** A question for one token. */
export function bucketQuestion(limit: string, capacity: number, perSecond: number): TokenQuestion {
  return {
    ...{ limit, period: 'second', capacity, perSecond, back: 0, needed: 1, ahead: 0 },
    ...{ spent: 0, hand: 0, series: null },
  };
}

export async function bucketContract(t: Test, store: TokenStore): Promise<void> {
  const newLimit = (): string => `sub_account:${randomUUID()}`;
  const question = (limit: string, given: Partial<TokenQuestion> = {}): TokenQuestion => ({
    ...bucketQuestion(limit, 10, hardly),
    ...given,
  });
  const ask = async (asked: TokenQuestion): Promise<TokenAnswer> => {
    const [answer] = await store.ask([asked]);
    if (answer === undefined || answer instanceof Error) throw new Error('no answer', { cause: answer });
    return { granted: answer.granted, left: Math.round(answer.left * 1000) / 1000 };
  };

  await t.test('a bucket that nobody has asked is full, and gives no more than it has', async (t) => {
    const limit = newLimit();
    t.same(await ask(question(limit, { needed: 4 })), { granted: 4, left: 6 });
    t.same(await ask(question(limit, { needed: 0 })), { granted: 0, left: 6 }, 'to look takes nothing');
    t.same(await ask(question(limit, { needed: 9 })), { granted: 6, left: 0 });
    t.same(await ask(question(limit)), { granted: 0, left: 0 });
    t.same(await ask(question(newLimit())), { granted: 1, left: 9 }, 'another has its own');
  });

  await t.test('tokens that are given back are there again, up to the capacity', async (t) => {
    const limit = newLimit();
    await ask(question(limit, { needed: 8 }));
    t.same(await ask(question(limit, { back: 3, needed: 0 })), { granted: 0, left: 5 });
    t.same(await ask(question(limit, { back: 50, needed: 0 })), { granted: 0, left: 10 });
    t.same(await ask(question(limit, { back: -4, needed: 0 })), { granted: 0, left: 6 }, 'a debt is paid');
    t.same(
      await ask(question(limit, { back: -40, needed: 2 })),
      { granted: 0, left: 0 },
      'but no more than there is',
    );
  });

  await t.test('what is expected gets a quarter of the upper half, what waits comes first', async (t) => {
    const limit = newLimit();
    const of = (given: Partial<TokenQuestion>) =>
      ask(question(limit, { capacity: 100, needed: 0, ...given }));
    t.same(await of({ ahead: 50 }), { granted: 12, left: 88 });
    t.same(await of({ ahead: 3 }), { granted: 3, left: 85 });
    t.same(await of({ needed: 30, ahead: 50 }), { granted: 31, left: 54 });
    t.same(await of({ needed: 5, ahead: 50 }), { granted: 5, left: 49 });
    t.same(await of({ ahead: 50 }), { granted: 0, left: 49 });
  });

  await t.test('it fills at its rate, and no further than its capacity', async (t) => {
    const limit = newLimit();
    const of = (given: Partial<TokenQuestion>) =>
      ask(question(limit, { perSecond: 200, needed: 0, ...given }));
    // Before the question: it fills from the moment in which the store answers.
    const began = performance.now();
    await of({ needed: 10 });
    let left = 0;
    while (left < 5) ({ left } = await of({}));
    const took = performance.now() - began;
    t.ok(took > 15, `5 tokens at 200 a second took ${took.toFixed(1)} ms`);
    while (left < 10) ({ left } = await of({}));
    t.equal((await of({})).left, 10);
  });

  await t.test('changed figures hold from the next question on', async (t) => {
    const limit = newLimit();
    await ask(question(limit, { needed: 2 }));
    t.same(await ask(question(limit, { capacity: 5, needed: 0 })), { granted: 0, left: 5 }, 'cut');
    t.same(
      await ask(question(limit, { capacity: 50, needed: 0 })),
      { granted: 0, left: 5 },
      'not filled at once',
    );
  });

  await t.test('many limits in one call, answered in their order', async (t) => {
    const limits = Array.from({ length: 500 }, newLimit);
    const answers = await store.ask(limits.map((limit, i) => question(limit, { needed: i % 12 })));
    t.same(
      answers.map((answer) => (answer instanceof Error ? answer : answer.granted)),
      limits.map((_, i) => Math.min(10, i % 12)),
    );
    t.same(await store.ask([]), [], 'nothing is asked: it can be reached');
  });

  await t.test('many replicas at once get each token once', async (t) => {
    const limits = Array.from({ length: 20 }, newLimit);
    const calls = await Promise.all(
      Array.from({ length: 30 }, (_, i) => {
        const asked = limits.map((limit) => question(limit));
        return store.ask(i % 2 === 0 ? asked : asked.toReversed());
      }),
    );
    const granted = calls
      .flat()
      .reduce((sum, answer) => sum + (answer instanceof Error ? 0 : answer.granted), 0);
    t.equal(granted, 10 * limits.length);
  });
}
