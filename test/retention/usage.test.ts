// class: pure
import t from 'tap';
import type { AccountId } from '../../src/domain/ids.ts';
import type { PrunedDays, PrunedHours } from '../../src/ports/usage.ts';
import { pruneUsage } from '../../src/retention/usage.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

const minute = 60_000;

t.test('each round adds days up, deletes hours and days in portions, and tells what it did', async (t) => {
  const time = new ManualTime();
  const asked: (string | PrunedHours | PrunedDays)[] = [];
  const lines: object[] = [];
  const rollUps = [true, true, false];
  const hours = [
    { deleted: 1_000, next: 'a' as AccountId },
    { deleted: 5, next: null },
  ];
  const days = [1_000, 3];
  let counted = 0;
  const stop = pruneUsage({
    usage: {
      rollUp: async () => {
        asked.push('roll up');
        return rollUps.shift() ?? false;
      },
      pruneHours: async (portion) => {
        asked.push(portion);
        return hours.shift() ?? { deleted: 0, next: null };
      },
      pruneDays: async (portion) => {
        asked.push(portion);
        return days.shift() ?? 0;
      },
    },
    hourlyDays: 62,
    months: 25,
    clock: time.clock,
    timers: time.timers,
    logger: { info: (fields) => lines.push(fields) },
    onDeleted: (rows) => (counted += rows),
  });
  await time.advance(minute);
  t.match(asked, [
    'roll up',
    'roll up',
    'roll up',
    { days: 62, after: null, most: 1_000 },
    { days: 62, after: 'a' },
    { months: 25, most: 1_000 },
    { months: 25 },
  ]);
  t.same(lines, [
    { portions: 2 },
    { rows: 1_005, hourly_retention_days: 62 },
    { rows: 1_003, retention_months: 25 },
  ]);
  t.equal(counted, 2_008);
  await time.advance(10 * minute);
  t.equal(asked.length, 10);
  t.equal(lines.length, 3, 'a round without any is not told');
  stop();
  await time.advance(60 * minute);
  t.equal(asked.length, 10);
});
