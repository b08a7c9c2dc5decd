// class: pure
import t from 'tap';
import { Alarm } from '../../src/timing/alarm.ts';
import { ManualTime } from '../support/coherence/manual-time.ts';

/** Steps of the microtask queue between the last line of a run and the request that asks for the next one. */
for (const steps of [0, 1, 2, 3, 4, 5, 6])
  t.test(`what is asked for ${steps} steps after a run ends is not lost`, async (t) => {
    const time = new ManualTime();
    let runs = 0;
    let wanted = false;
    const ask = async (): Promise<void> => {
      for (let step = 0; step < steps; step++) await Promise.resolve();
      wanted = true;
      alarm.wakeAt(time.now + 5);
    };
    const alarm = new Alarm(time.clock, time.timers, async () => {
      runs += 1;
      wanted = false;
      if (runs === 1) void ask();
      return () => (wanted ? time.now + 5 : Infinity);
    });
    alarm.wakeAt(time.now);
    await time.advance(0);
    t.equal(runs, 1);
    await time.advance(5);
    t.equal(runs, 2);
    await time.advance(1_000);
    t.equal(runs, 2);
    await alarm.stop();
  });
