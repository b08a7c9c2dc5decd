// class: pure
import t from 'tap';
import { clockWarnings, StoreClock } from '../../src/coherence/store-clock.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

const hour = 3_600_000;

t.test("time is the store's, whatever the wall clock of the machine says", async (t) => {
  const time = new ManualTime();
  const clock = new StoreClock(time.clock);
  t.equal(clock.wallMs(), time.clock.wallMs(), 'before it is known nothing is decided');
  const storeMs = time.clock.wallMs() + 2 * hour;
  clock.learn(storeMs, time.clock.monotonicMs());
  t.same([clock.wallMs(), clock.aheadMs], [storeMs, -2 * hour]);
  await time.advance(500);
  t.equal(clock.wallMs(), storeMs + 500);
});

t.test(
  'a slow response makes it early and never late: no key is accepted after it has expired',
  async (t) => {
    for (const readAfterMs of [0, 40, 80]) {
      const time = new ManualTime();
      const clock = new StoreClock(time.clock);
      const sentMs = time.clock.monotonicMs();
      const trueMs = (): number => 1_000_000 + time.clock.monotonicMs();
      await time.advance(readAfterMs);
      const storeMs = trueMs();
      await time.advance(80 - readAfterMs);
      clock.learn(storeMs, sentMs);
      t.ok(clock.wallMs() >= Math.floor(trueMs()) && clock.wallMs() <= trueMs() + 80);
    }
  },
);

t.test('a wall clock that is wrong by more than a second is warned of once', async (t) => {
  const said: string[] = [];
  const look = clockWarnings((_, message) => void said.push(message));
  for (const aheadMs of [0, 900, -1_100, 2 * hour, 0, 1_001]) look(aheadMs);
  t.equal(said.length, 2);
});
