// class: pure
/** A reload of all workers: all of them use the configuration, or none does. */
import t from 'tap';
import type { Config } from '../../../src/config.ts';
import { everythingThatFollows } from '../../support/coherence/manual-time.ts';
import { startedFakes } from '../../support/fake-workers.ts';

t.test('a configuration is used by all, once all can use it', async (t) => {
  const { reloading, at, config } = startedFakes();
  const wanted = { drainMs: 2 } as unknown as Config;
  const done = reloading.run(wanted, () => (config.current = wanted));
  t.match(at(0).heard.at(-1), { kind: 'prepare', id: 1, config: wanted });
  at(0).say({ kind: 'prepared', id: 1, failure: null });
  await everythingThatFollows();
  t.notOk(
    at(0).heard.some(({ kind }) => kind === 'decided'),
    'the other one has not said yet',
  );
  at(1).say({ kind: 'prepared', id: 1, failure: null });
  await everythingThatFollows();
  for (const worker of [at(0), at(1)]) {
    t.match(worker.heard.at(-1), { kind: 'decided', id: 1, use: true });
    worker.say({ kind: 'used', id: 1 });
  }
  await done;
  t.equal(config.current, wanted);
});

t.test('a configuration that one worker cannot use is used by none', async (t) => {
  const { reloading, at, config, time } = startedFakes();
  const before = config.current;
  const wanted = { drainMs: 2 } as unknown as Config;
  const first = reloading.run(wanted, () => (config.current = wanted));
  at(0).say({ kind: 'prepared', id: 1, failure: null });
  at(1).say({ kind: 'prepared', id: 1, failure: 'no such file' });
  await t.rejects(first, new Error('no such file'));
  for (const worker of [at(0), at(1)]) t.match(worker.heard.at(-1), { kind: 'decided', id: 1, use: false });

  const second = reloading.run(wanted, () => (config.current = wanted));
  at(0).say({ kind: 'prepared', id: 2, failure: null });
  const silent = t.rejects(second, new Error('worker 2 does not answer'));
  await time.advance(10_000);
  await silent;
  t.match(at(0).heard.at(-1), { kind: 'decided', id: 2, use: false });
  t.equal(config.current, before);
});

t.test(
  'a worker that dies during a reload does not keep the others from it, and its successor uses it',
  async (t) => {
    const { reloading, at, config, time } = startedFakes();
    const wanted = { drainMs: 2 } as unknown as Config;
    const done = reloading.run(wanted, () => (config.current = wanted));
    at(0).exit(null, 'SIGKILL');
    await time.advance(0);
    at(2).begin();
    t.same(at(2).heard, [], 'it waits for what it is to serve by');
    at(1).say({ kind: 'prepared', id: 1, failure: null });
    await everythingThatFollows();
    at(1).say({ kind: 'used', id: 1 });
    await done;
    t.match(at(2).heard[0], { kind: 'begin', slot: 1, config: wanted });
  },
);
