// class: pure
/** A store of limits that is away, slow or lost in part: what a replica says of that, and how long requests wait. */
import t, { type Test } from 'tap';
import { embeddedBuckets } from '../../../src/adapters/embedded/buckets.ts';
import type { TokenStore } from '../../../src/ports/limits/token-store.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';
import { ModelQuotas } from '../../support/limits/model-stores.ts';
import { limitOf, openLimiter, respond } from '../../support/limits/one-limiter.ts';

const second = { requestsPerSecond: 100 };

/** A limiter whose store does what `how` says, which a test may change. */
function open(t: Test) {
  const how: { ask?: TokenStore['ask'] } = {};
  const time = new ManualTime();
  const store = embeddedBuckets(time.clock);
  const model = new ModelQuotas(() => time.clock.wallMs());
  const quotas: TokenStore['ask'] = async (questions) => model.answer('a', questions);
  const told: boolean[] = [];
  const guessed = { count: 0 };
  const opened = openLimiter({
    ...{ clock: time.clock, timers: time.timers, replicas: () => 2 },
    buckets: { ask: (questions) => (how.ask ?? store.ask)(questions) },
    quotas: { ask: (questions) => (how.ask ?? quotas)(questions) },
    events: { onDegraded: (degraded) => told.push(degraded), onGuessed: () => (guessed.count += 1) },
  });
  opened.limiter.start();
  t.teardown(async () => {
    delete how.ask;
    const stopped = opened.limiter.stop();
    await time.advance(1_000);
    await stopped;
  });
  const use = async (seconds: number): Promise<number> => {
    let admitted = 0;
    for (let i = 0; i < seconds * 100; i++) {
      await time.advance(10);
      for (let n = 0; n < 2; n++) {
        void opened.take([limitOf('parent', second)]).then((result) => {
          respond(result);
          admitted += result.full ? 0 : 1;
        });
      }
    }
    return admitted;
  };
  return { ...opened, how, time, store, told, guessed, use };
}

const away = () => Promise.reject(new Error('away'));
const silent = () => new Promise<never>(() => undefined);

for (const [what, ask] of [
  ['cannot be reached', away],
  ['is silent', silent],
] as const)
  t.test(
    `a replica whose store ${what} says so, goes on with its last share, and says that it is back`,
    async (t) => {
      const { how, limiter, told, use } = open(t);
      await use(30);
      how.ask = ask;
      await use(1);
      t.same(told, [true]);
      t.equal(limiter.degraded, true);
      const admitted = await use(10);
      t.ok(admitted > 900 && admitted <= 1_050, `${admitted} by its last share, which was all`);
      delete how.ask;
      await use(2);
      t.same(told, [true, false]);
      t.equal(limiter.degraded, false);
    },
  );

t.test('a replica whose limits are not used any more hears, too, that the store is back', async (t) => {
  const { how, limiter, time, use } = open(t);
  how.ask = away;
  await use(2);
  await time.advance(30_000);
  t.equal(limiter.degraded, true, 'it is not known to be back');
  delete how.ask;
  await time.advance(1_000);
  t.equal(limiter.degraded, false);
});

for (const [what, wasHeard, limits, mostMs] of [
  ['250 ms for the first answer about a limit', false, second, 250],
  ['25 ms for a later one', true, second, 25],
  ['a second for an answer about a quota', true, { requestsPerDay: 10_000 }, 1_000],
] as const)
  t.test(`a request waits ${what}, and no longer; those that come later do not wait`, async (t) => {
    const { how, time, take } = open(t);
    const by = [limitOf('parent', limits)];
    if (wasHeard) await take(by);
    how.ask = silent;
    let answered = 0;
    const send = (): void => void take(by).then(({ full }) => (answered += full ? 0 : 1));
    send();
    await time.advance(mostMs - 1);
    t.equal(answered, 0);
    await time.advance(1);
    t.equal(answered, 1, 'by the share of this replica');
    await time.advance(1);
    send();
    await time.advance(0);
    t.equal(answered, 2);
  });

t.test('a store that stopped answering is asked again once its call is given up', async (t) => {
  const { how, time, take, told } = open(t);
  const by = [limitOf('parent', { requestsPerDay: 10_000 })];
  await take(by);
  how.ask = silent;
  void take(by);
  await time.advance(1_299);
  delete how.ask;
  t.same(told, []);
  await time.advance(1);
  t.same(told, [true, false]);
});

t.test(
  'a rejection without an answer is a guess, says nothing of what is left, and is counted',
  async (t) => {
    const { how, take, guessed } = open(t);
    const by = [limitOf('parent', { requestsPerDay: 10 })];
    await take(by);
    how.ask = away;
    const results = await Promise.all(Array.from({ length: 8 }, () => take(by)));
    const guesses = results.filter(({ full }) => full);
    t.ok(guesses.length > 0 && guesses.length < 8, `${guesses.length} of 8`);
    for (const guess of guesses)
      t.match(guess, { confirmed: false, kind: 'parent', period: 'day', retryAfterS: 1, scarcest: null });
    t.equal(guessed.count, guesses.length);
  },
);

t.test('a request without room in one limit does not wait for another', async (t) => {
  const { how, time, take } = open(t);
  const by = [limitOf('parent', { requestsPerSecond: 2, requestsPerDay: 1_000 })];
  await take(by);
  how.ask = silent;
  const ended: boolean[] = [];
  for (let i = 0; i < 2; i++) void take(by).then(({ full }) => ended.push(full));
  await time.advance(25);
  t.same(ended, [true], 'the one that the share of the bucket had no token for');
  await time.advance(975);
  t.same(ended, [true, false]);
});

t.test('what was let through without the store is taken from its bucket afterwards', async (t) => {
  const { how, time, store, take, use } = open(t);
  await use(20);
  await time.advance(1_000);
  how.ask = away;
  let admitted = 0;
  for (let i = 0; i < 10; i++) admitted += (await take([limitOf('parent', second)])).full ? 0 : 1;
  t.ok(admitted > 0, `${admitted} without the store`);
  delete how.ask;
  const questions: number[] = [];
  how.ask = (asked) => {
    questions.push(...asked.map(({ back }) => back));
    return store.ask(asked);
  };
  await time.advance(1_100);
  t.equal(
    questions.reduce((sum, back) => sum + Math.min(0, back), 0),
    -admitted,
  );
});

t.test('a limit in a lost part of the store shows, until it is heard of or rests', async (t) => {
  const { how, limiter, time, store, use } = open(t);
  how.ask = async (questions) => {
    const answers = await store.ask(questions);
    return answers.map((answer, i) =>
      questions[i]?.limit.startsWith('parent') ? new Error('lost') : answer,
    );
  };
  t.ok((await use(5)) > 10, 'it goes on');
  t.equal(limiter.degraded, true);
  await time.advance(20_000);
  t.equal(limiter.degraded, false, 'it rests');
  await use(2);
  t.equal(limiter.degraded, true);
  delete how.ask;
  await use(3);
  t.equal(limiter.degraded, false, 'it is heard of');
});
