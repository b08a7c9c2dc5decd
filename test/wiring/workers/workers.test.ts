/** Which workers run and which take connections, with workers that are made of messages alone, in virtual time. */
import t from 'tap';
import type { Config } from '../../../src/config.ts';
import { openLog } from '../../../src/ops/logger.ts';
import type { Unreadiness } from '../../../src/ops/health.ts';
import type { WorkerProcess } from '../../../src/wiring/workers/member.ts';
import type { FromWorker, ToWorker } from '../../../src/wiring/workers/messages.ts';
import { ReloadAll } from '../../../src/wiring/workers/reload-all.ts';
import { Workers } from '../../../src/wiring/workers/workers.ts';
import { ManualTime } from '../../support/coherence/manual-time.ts';

const lapsed: Unreadiness = { reason: 'lease_lapsed', detail: 'gone' };

class FakeWorker implements WorkerProcess {
  readonly heard: ToWorker[] = [];
  readonly signals: string[] = [];
  readonly pid: number;
  say: (message: FromWorker) => void = () => undefined;
  exit: (code: number | null, signal?: NodeJS.Signals) => void = () => undefined;

  constructor(pid: number) {
    this.pid = pid;
  }

  send(message: ToWorker): void {
    this.heard.push(message);
  }
  kill(signal: NodeJS.Signals): void {
    this.signals.push(signal);
  }
  onMessage(listener: (message: FromWorker) => void): void {
    this.say = listener;
  }
  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void {
    this.exit = (code, signal) => listener(code, signal ?? null);
  }

  begin(): this {
    this.say({ kind: 'hello' });
    return this;
  }
  state(...unready: Unreadiness[]): this {
    this.say({ kind: 'state', unready });
    return this;
  }
  /** What it was told last of all. */
  get fleet() {
    return this.heard.findLast((message) => message.kind === 'fleet');
  }
}

function start(size = 2) {
  const time = new ManualTime();
  const forked: FakeWorker[] = [];
  const ended: number[] = [];
  const config = { current: { drainMs: 1 } as unknown as Config };
  const workers = new Workers({
    size,
    config: () => config.current,
    fork: () => {
      const worker = new FakeWorker(100 + forked.length);
      forked.push(worker);
      return worker;
    },
    timers: time.timers,
    clock: time.clock,
    logger: openLog('silent').logger,
    onMessage: (from, message) => {
      if (message.kind === 'prepared') reloading.prepared.answered(from, message.id, message.failure);
      if (message.kind === 'used') reloading.used.answered(from, message.id, true);
    },
    onGone: (member) => reloading.gone(member),
    onReplaced: () => undefined,
    onNeverStarted: (code) => void ended.push(code),
  });
  const reloading = new ReloadAll(workers, time.timers);
  const at = (index: number): FakeWorker => {
    const worker = forked[index];
    if (worker === undefined) throw new Error(`only ${forked.length} were forked`);
    return worker;
  };
  return { workers, reloading, time, forked, at, ended, config };
}

/** Both ready. */
function started() {
  const all = start();
  all.at(0).begin().state();
  all.at(1).begin().state();
  return all;
}

t.test('the others begin when the first one listens; where it cannot, its exit code ends all', async (t) => {
  const { forked, at } = start(3);
  t.equal(forked.length, 1);
  at(0).begin();
  t.match(at(0).heard, [
    { kind: 'begin', slot: 1 },
    { kind: 'fleet', take: true, unready: [{ reason: 'starting' }] },
  ]);
  at(0).state(lapsed);
  t.equal(forked.length, 3);

  const failing = start(3);
  failing.at(0).begin().exit(1);
  t.same(failing.ended, [1]);
  await failing.time.advance(60_000);
  t.equal(failing.forked.length, 1);
});

t.test(
  'an unready worker takes no connections while another one is ready; all take where none is',
  async (t) => {
    const { at } = start();
    at(0).begin().state(lapsed);
    at(1).begin();
    t.match(at(0).fleet, { take: true, unready: [lapsed] });
    t.match(at(1).fleet, { take: true, unready: [lapsed] });
    at(0).state();
    t.match(at(0).fleet, { take: true, unready: [] });
    t.match(at(1).fleet, { take: false, unready: [] });
    at(1).state();
    t.match(at(1).fleet, { take: true, unready: [] });
    at(0).state(lapsed);
    t.match(at(0).fleet, { take: false, unready: [] });
    at(1).state(lapsed);
    t.match(at(0).fleet, { take: true, unready: [lapsed] });
    t.match(at(1).fleet, { take: true, unready: [lapsed] });
  },
);

t.test('one that stays unready while others are ready is drained and replaced', async (t) => {
  const { at, time, forked } = started();
  at(0).state(lapsed);
  for (let second = 0; second < 12; second++) {
    at(0).state(lapsed);
    at(1).state();
    await time.advance(1_000);
  }
  t.ok(at(0).heard.some(({ kind }) => kind === 'drain'));
  t.notOk(at(1).heard.some(({ kind }) => kind === 'drain'));
  at(0).exit(0);
  await time.advance(0);
  t.equal(forked.length, 3);
});

t.test('no worker is replaced for what keeps all of them from deciding', async (t) => {
  const { at, time } = started();
  for (let second = 0; second < 60; second++) {
    at(0).state(lapsed);
    at(1).state(lapsed);
    await time.advance(1_000);
  }
  t.notOk([at(0), at(1)].some(({ heard }) => heard.some(({ kind }) => kind === 'drain')));
});

t.test('a worker that says nothing for half a minute is killed', async (t) => {
  const { at, time } = started();
  for (let second = 0; second < 31; second++) {
    at(1).state();
    await time.advance(1_000);
  }
  t.same(at(0).signals, ['SIGKILL']);
  t.same(at(1).signals, []);
});

t.test('a worker that dies again and again is started ever more slowly, up to half a minute', async (t) => {
  const { at, time, forked } = started();
  const pauses: number[] = [];
  at(0).exit(null, 'SIGKILL');
  for (let i = 2; i < 12; i++) {
    let waited = 0;
    await time.advance(0);
    while (forked.length === i) {
      at(1).state();
      waited += 250;
      await time.advance(250);
    }
    pauses.push(waited);
    at(i).begin().exit(3);
  }
  t.same(pauses, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

t.test('a stop drains all, also one that begins just then, and starts no other', async (t) => {
  const { workers, at, time, forked } = started();
  at(0).exit(1);
  await time.advance(0);
  t.equal(forked.length, 3);
  workers.stop();
  at(2).begin();
  for (const worker of [at(1), at(2)]) t.ok(worker.heard.some(({ kind }) => kind === 'drain'));
  t.match(at(1).fleet, { take: true, unready: [{ reason: 'draining' }] });
  at(1).exit(0);
  at(2).exit(0);
  t.ok(workers.empty);
  await time.advance(120_000);
  t.equal(forked.length, 3);
});

t.test('a configuration is used by all, once all can use it', async (t) => {
  const { reloading, at, config } = started();
  const wanted = { drainMs: 2 } as unknown as Config;
  const done = reloading.run(wanted, () => (config.current = wanted));
  t.match(at(0).heard.at(-1), { kind: 'prepare', id: 1, config: wanted });
  at(0).say({ kind: 'prepared', id: 1, failure: null });
  await tick();
  t.notOk(
    at(0).heard.some(({ kind }) => kind === 'decided'),
    'the other one has not said yet',
  );
  at(1).say({ kind: 'prepared', id: 1, failure: null });
  await tick();
  for (const worker of [at(0), at(1)]) {
    t.match(worker.heard.at(-1), { kind: 'decided', id: 1, use: true });
    worker.say({ kind: 'used', id: 1 });
  }
  await done;
  t.equal(config.current, wanted);
});

t.test('a configuration that one worker cannot use is used by none', async (t) => {
  const { reloading, at, config, time } = started();
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
    const { reloading, at, config, time } = started();
    const wanted = { drainMs: 2 } as unknown as Config;
    const done = reloading.run(wanted, () => (config.current = wanted));
    at(0).exit(null, 'SIGKILL');
    await time.advance(0);
    at(2).begin();
    t.same(at(2).heard, [], 'it waits for what it is to serve by');
    at(1).say({ kind: 'prepared', id: 1, failure: null });
    await tick();
    at(1).say({ kind: 'used', id: 1 });
    await done;
    t.match(at(2).heard[0], { kind: 'begin', slot: 1, config: wanted });
  },
);

function tick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
