// class: pure
/** Which limit is in force for an account with a plan. */
import t from 'tap';
import { noLimits, type Limits } from '../../../src/domain/limits/limits.ts';
import { effectiveLimits, hasLimits, type Own, type OwnLimits } from '../../../src/domain/limits/plan.ts';

const singly = ['requestsPerMinute', 'requestsPerDay', 'requestsPerMonth'] as const;

/** Own value, value of the plan (`undefined` without a plan), value in force. */
const rules: readonly (readonly [own: Own, plan: number | null | undefined, inForce: number | null])[] = [
  [null, undefined, null],
  [5, undefined, 5],
  ['unlimited', undefined, null],
  [null, null, null],
  [5, null, 5],
  ['unlimited', null, null],
  [null, 7, 7],
  [5, 7, 5],
  [9, 7, 9],
  ['unlimited', 7, null],
];

for (const [own, ofPlan, inForce] of rules)
  t.test(`own ${own}, plan ${ofPlan}: ${inForce}`, async (t) => {
    for (const name of singly) {
      const plan = ofPlan === undefined ? null : { ...noLimits, [name]: ofPlan };
      t.same(effectiveLimits({ ...noLimits, [name]: own }, plan), { ...noLimits, [name]: inForce }, name);
    }
  });

/** Own rate and burst, those of the plan, those in force. */
const pairs: readonly (readonly [Own, number | null, ...ofPlanAndInForce: (number | null)[]])[] = [
  [null, null, 7, 20, 7, 20],
  [null, null, 7, null, 7, null],
  [5, null, 7, 20, 5, null],
  [5, 8, 7, 20, 5, 8],
  [5, 8, null, null, 5, 8],
  ['unlimited', null, 7, 20, null, null],
];

t.test('rate and burst are inherited together', async (t) => {
  for (const [requestsPerSecond, burst, ...others] of pairs) {
    const own: OwnLimits = { ...noLimits, requestsPerSecond, burst };
    const [plan, inForce] = [others.slice(0, 2), others.slice(2)].map(
      ([rate = null, most = null]): Limits => {
        return { ...noLimits, requestsPerSecond: rate, burst: most };
      },
    );
    t.same(effectiveLimits(own, plan ?? null), inForce, JSON.stringify([own, plan]));
    const alone = requestsPerSecond === 'unlimited' ? noLimits : own;
    t.same(effectiveLimits(own, null), alone, `${requestsPerSecond} and ${burst} without a plan`);
  }
});

t.test('each limit is inherited by itself', async (t) => {
  const plan: Limits = {
    ...{ requestsPerSecond: 1, burst: 2, requestsPerMinute: 3 },
    ...{ requestsPerDay: 4, requestsPerMonth: 5, unitsPerMonth: 6 },
  };
  const own: OwnLimits = { ...noLimits, requestsPerDay: 'unlimited', requestsPerMonth: 50 };
  t.same(effectiveLimits(own, plan), { ...plan, requestsPerDay: null, requestsPerMonth: 50 });
  t.notOk(hasLimits(noLimits));
  for (const name of ['requestsPerSecond', ...singly] as const)
    t.ok(hasLimits({ ...noLimits, [name]: 1 }), name);
});
