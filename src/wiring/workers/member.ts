import type { Unreadiness } from '../../ops/health.ts';
import type { FromWorker, ToWorker } from './messages.ts';

/** A process that was forked, as much of it as is used. */
export interface WorkerProcess {
  readonly pid: number;
  /** Does nothing where it has ended. */
  send(message: ToWorker): void;
  kill(signal: NodeJS.Signals): void;
  onMessage(listener: (message: FromWorker) => void): void;
  /** @param listener gets the exit code, or the signal that ended it */
  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
}

/** One worker, from its fork to its end. */
export class Member {
  readonly id: number;
  /** Which of the workers it is: a successor takes over the number. */
  readonly slot: number;
  readonly process: WorkerProcess;
  readonly bornMs: number;
  /** It asked what to serve by, and was told. */
  begun = false;
  /** What keeps it from deciding; `null` before it listens. */
  unready: readonly Unreadiness[] | null = null;
  /** Whether it takes connections, and what it was told of all. */
  told = '';
  wasReady = false;
  draining = false;
  gone = false;
  /** Looks since it last said something. */
  silentFor = 0;
  /** Looks in a row in which it was not ready while another one was. */
  behindFor = 0;

  constructor(id: number, slot: number, process: WorkerProcess, bornMs: number) {
    this.id = id;
    this.slot = slot;
    this.process = process;
    this.bornMs = bornMs;
  }

  get ready(): boolean {
    return this.unready?.length === 0 && !this.draining;
  }
}
