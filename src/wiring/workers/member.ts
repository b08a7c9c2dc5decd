import type { Unreadiness } from '../../ops/health.ts';
import type { FromWorker, ToWorker } from './messages.ts';

/** A forked process, as far as it is used here. */
export interface WorkerProcess {
  readonly pid: number;
  /** Does nothing if the process has ended. */
  send(message: ToWorker): void;
  kill(signal: NodeJS.Signals): void;
  onMessage(listener: (message: FromWorker) => void): void;
  /** @param listener called with the exit code, or the signal that ended the process */
  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
}

/** One worker, from its fork to its end. */
export class Member {
  readonly id: number;
  /** Number of the worker. Its successor gets the same number. */
  readonly slot: number;
  readonly process: WorkerProcess;
  readonly bornMs: number;
  /** Whether the worker has asked for its configuration and received it. */
  begun = false;
  /** Reasons why the worker cannot decide; `null` before it listens. */
  unready: readonly Unreadiness[] | null = null;
  /** Last `fleet` message to the worker, and whether it was ever ready. */
  told = '';
  wasReady = false;
  draining = false;
  gone = false;
  /** Number of looks since the worker's last message. */
  silentFor = 0;
  /** Number of looks in a row at which the worker was not ready while another was. */
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
