/** Workers that are made of messages alone, in virtual time. */
import type { Config } from '../../src/config.ts';
import type { Unreadiness } from '../../src/ops/health.ts';
import { openLog } from '../../src/ops/logger.ts';
import type { WorkerProcess } from '../../src/wiring/workers/member.ts';
import type { FromWorker, ToWorker } from '../../src/wiring/workers/messages.ts';
import { ReloadAll } from '../../src/wiring/workers/reload-all.ts';
import { Workers } from '../../src/wiring/workers/workers.ts';
import { ManualTime } from './coherence/manual-time.ts';

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
  get group() {
    return this.heard.findLast((message) => message.kind === 'group');
  }
}

/** So many workers, of which none has begun, in virtual time. */
export function startFakes(size = 2) {
  const time = new ManualTime();
  const forked: FakeWorker[] = [];
  const ended: number[] = [];
  const passedOn: string[] = [];
  const config = { current: { drainMs: 1, coherence: { leaseMs: 3_000 } } as unknown as Config };
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
      passedOn.push(message.kind);
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
  return { workers, reloading, time, forked, at, ended, passedOn, config };
}

/** Two workers, both ready. */
export function startedFakes() {
  const all = startFakes();
  all.at(0).begin().state();
  all.at(1).begin().state();
  return all;
}
