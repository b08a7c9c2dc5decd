import type { Unreadiness } from '../../ops/health.ts';
import type { FromWorker, ToWorker } from './messages.ts';

/** A forked process, reduced to the members used here. */
export interface WorkerProcess {
  readonly pid: number;
  /** Sends a message to the process. Does nothing if the process has ended. */
  send(message: ToWorker): void;
  kill(signal: NodeJS.Signals): void;
  onMessage(listener: (message: FromWorker) => void): void;
  /** @param listener called with the exit code, or the signal that ended the process */
  onExit(listener: (code: number | null, signal: NodeJS.Signals | null) => void): void;
}

/** One worker, from its fork to its end. */
export class Member {
  readonly id: number;
  /** Number of the worker. The worker's successor inherits the number. */
  readonly slot: number;
  readonly process: WorkerProcess;
  readonly bornMs: number;
  /** Whether the worker has asked for its configuration and received it. */
  begun = false;
  /** Reasons why the worker cannot decide; `null` before it listens. */
  unready: readonly Unreadiness[] | null = null;
  /** Last `group` message to the worker, as JSON. */
  told = '';
  /** Whether the worker was ever ready. */
  wasReady = false;
  draining = false;
  gone = false;
  /** Number of checks since the worker's last message. */
  silentFor = 0;
  /** Number of consecutive checks in which this worker was not ready while another one was. */
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
