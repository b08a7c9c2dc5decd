// class: pure
import t from 'tap';
import { View } from '../../src/coherence/memory/view.ts';
import { RecentChanges } from '../../src/coherence/memory/recent-changes.ts';
import { changesKept, keepLogShort } from '../../src/coherence/retention.ts';
import type { PrunePortion } from '../../src/ports/coherence-log.ts';
import { everythingThatFollows, ManualTime } from '../support/coherence/manual-time.ts';

function make(recentChanges?: RecentChanges) {
  const time = new ManualTime();
  const view = new View({ facts: 10, unknownKeys: 10 }, recentChanges);
  const asked: PrunePortion[] = [];
  const responses: boolean[] = [];
  const prune = async (portion: PrunePortion): Promise<boolean> => {
    asked.push(portion);
    return responses.shift() ?? false;
  };
  const stop = keepLogShort({ log: { prune }, view, timers: time.timers });
  const applied = (seq: number): void =>
    void view.take({ incarnation: 'i', seq, through: seq, floor: 1, entries: [] });
  return { time, view, asked, responses, stop, applied };
}

const minute = 60_000;

t.test('what is so many changes back is pruned, portion by portion, until there is no more', async (t) => {
  const { time, asked, responses, applied, stop } = make();
  applied(changesKept);
  await time.advance(minute);
  t.same(asked, []);
  applied(changesKept + 7);
  responses.push(true, true);
  await time.advance(minute);
  t.same(
    asked.map(({ before, incarnation }) => [before, incarnation]),
    [
      [7, 'i'],
      [7, 'i'],
      [7, 'i'],
    ],
  );
  stop();
  await time.advance(10 * minute);
  t.equal(asked.length, 3);
});

t.test(
  'however long a replica sleeps and whatever its clocks show, it prunes nothing that is not so far back',
  async (t) => {
    const { time, asked, applied } = make();
    applied(500);
    time.setWallForward(1e9);
    time.pause(1e9);
    await time.advance(minute);
    t.same(asked, []);
  },
);

t.test('what a replica forgot because single changes touch many facts is pruned, too', async (t) => {
  const { time, view, asked } = make(new RecentChanges(10));
  const entries = Array.from({ length: 30 }, (_, i) => ({
    seq: i + 1,
    key: `n:${i}` as const,
    revoked: false,
  }));
  view.take({ incarnation: 'i', seq: 30, through: 30, floor: 1, entries });
  await time.advance(minute);
  t.equal(asked[0]?.before, view.evictedBelow);
  t.ok(view.evictedBelow > 10);
  await everythingThatFollows();
});
