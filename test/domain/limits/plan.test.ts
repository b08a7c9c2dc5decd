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
type Pair<Rate> = readonly [rate: Rate, burst: number | null];
const pairs: readonly (readonly [
  own: Pair<Own>,
  plan: Pair<number | null> | undefined,
  Pair<number | null>,
])[] = [
  [[null, null], undefined, [null, null]],
  [[5, 8], undefined, [5, 8]],
  [['unlimited', null], undefined, [null, null]],
  [
    [null, null],
    [7, 20],
    [7, 20],
  ],
  [
    [null, null],
    [7, null],
    [7, null],
  ],
  [
    [5, null],
    [7, 20],
    [5, null],
  ],
  [
    [5, 8],
    [7, 20],
    [5, 8],
  ],
  [
    [5, 8],
    [null, null],
    [5, 8],
  ],
  [
    ['unlimited', null],
    [7, 20],
    [null, null],
  ],
];

t.test('rate and burst are inherited together', async (t) => {
  for (const [own, ofPlan, inForce] of pairs) {
    const plan = ofPlan && { ...noLimits, requestsPerSecond: ofPlan[0], burst: ofPlan[1] };
    const ofOwn: OwnLimits = { ...noLimits, requestsPerSecond: own[0], burst: own[1] };
    const expected: Limits = { ...noLimits, requestsPerSecond: inForce[0], burst: inForce[1] };
    t.same(effectiveLimits(ofOwn, plan ?? null), expected, JSON.stringify([own, ofPlan]));
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
