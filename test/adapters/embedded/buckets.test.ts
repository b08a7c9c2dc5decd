// class: pure
import t from 'tap';
import { embeddedBuckets } from '../../../src/adapters/embedded/buckets.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { bucketContract, bucketQuestion } from '../../contract/buckets.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';

t.test('buckets in the process', (t) => bucketContract(t, embeddedBuckets(systemClock)));

t.test('a bucket that is full again is forgotten, one that is not is kept', async (t) => {
  const time = new ManualTime();
  const store = embeddedBuckets(time.clock);
  const question = { ...bucketQuestion('parent:a', 10, 1), needed: 5 };
  await store.ask([{ ...question, limit: 'parent:slow', perSecond: 0.01 }]);
  for (let i = 0; i < 30_000; i++) {
    if (i % 1_000 === 0) await time.advance(10_000);
    await store.ask([{ ...question, limit: `parent:${i}` }]);
  }
  t.match(await store.ask([{ ...question, limit: 'parent:slow', perSecond: 0.01, needed: 0 }]), [
    { left: 8 },
  ]);
});
