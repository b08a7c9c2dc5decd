// class: pure
import pino from 'pino';
import t from 'tap';
import { reloader } from '../../src/wiring/reload.ts';

t.test('signals that have arrived are one reload, although each is handed over by itself', async (t) => {
  let reloads = 0;
  const gateway = {
    reload: () => Promise.resolve(void (reloads += 1)),
    noteReload: () => undefined,
  };
  const reload = reloader({}, pino({ level: 'silent' }));
  const all: Promise<void>[] = [];
  for (let signal = 0; signal < 30; signal += 1) {
    all.push(reload(gateway));
    // What follows from a signal without waiting comes before the next signal.
    for (let tick = 0; tick < 100; tick += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
  }
  await Promise.all(all);
  t.equal(reloads, 1);
  await reload(gateway);
  t.equal(reloads, 2, 'a later one is another');
});
