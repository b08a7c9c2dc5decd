// class: pure
import t from 'tap';
import { pruneEvents } from '../../src/retention/events.ts';
import type { PrunedEvents } from '../../src/ports/events.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

const minute = 60_000;

function make(responses: (number | Error)[]) {
  const time = new ManualTime();
  const asked: PrunedEvents[] = [];
  const lines: object[] = [];
  let counted = 0;
  const stop = pruneEvents({
    events: {
      async prune(portion) {
        asked.push(portion);
        const response = responses.shift() ?? 0;
        if (response instanceof Error) throw response;
        return { deleted: response, more: response === portion.most };
      },
    },
    days: 30,
    clock: time.clock,
    timers: time.timers,
    logger: { info: (fields) => lines.push(fields) },
    onDeleted: (events) => (counted += events),
  });
  return { time, asked, lines, stop, counted: () => counted };
}

t.test('old events go in portions until there are no more, and again later', async (t) => {
  const { time, asked, lines, stop, counted } = make([1_000, 1_000, 7]);
  await time.advance(minute);
  t.equal(asked.length, 3);
  t.match(asked, [{ days: 30, most: 1_000, nowMs: Number }]);
  t.same(lines, [{ events: 2_007, retention_days: 30 }]);
  t.equal(counted(), 2_007);
  await time.advance(10 * minute);
  t.equal(asked.length, 4);
  t.equal(lines.length, 1, 'a round without any is not told');
  stop();
  await time.advance(60 * minute);
  t.equal(asked.length, 4);
});

t.test('what was deleted before the store failed is told; the rest comes in the next round', async (t) => {
  const { time, asked, lines, counted } = make([1_000, new Error('away'), 3]);
  await time.advance(minute);
  t.same(lines, [{ events: 1_000, retention_days: 30 }]);
  await time.advance(10 * minute);
  t.equal(asked.length, 3);
  t.equal(counted(), 1_003);
});
