import type { Unreadiness } from '../../ops/health.ts';
import type { FromWorker, ToWorker } from './messages.ts';

/** A forked process, as far as it is used here. */
export interface WorkerProcess {
  readonly pid: number;
  /** Does nothing if the process has ended. */
  send(message: ToWorker): void;
  kill(signal: NodeJS.Signals): void;
  onMessage(listener: (message: FromWorker) => void): void;
  /** @param listener gets the exit code, or the signal that ended the process */
  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
}

/** One worker, from its fork to its end. */
export class Member {
  readonly id: number;
  /** Number of the worker among all; its successor takes over the number. */
  readonly slot: number;
  readonly process: WorkerProcess;
  readonly bornMs: number;
  /** Whether it has asked for its configuration and got it. */
  begun = false;
  /** Reasons why it cannot decide; `null` before it listens. */
  unready: readonly Unreadiness[] | null = null;
  /** Last `fleet` message to it, and whether it was ever ready. */
  told = '';
  wasReady = false;
  draining = false;
  gone = false;
  /** Looks since its last message. */
  silentFor = 0;
  /** Looks in a row at which it was not ready while another worker was. */
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
