import type { Logger } from 'pino';
import type { UsageExportConfig } from '../../config.ts';
import { usageEvent, type ExportedUsage } from '../../domain/usage-event.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { ExportPosition, ExportState, ExportLock, UsageExportStore } from '../../ports/usage/export.ts';
import type { Receiver } from '../../ports/usage/receiver.ts';
import { batchOf, singlesAtOnce } from './batches.ts';
import { deliverEvents, type RejectedEvent } from './deliver-events.ts';
import { pendingOf, type ExportedKind, type Pending } from './pending.ts';

export interface RunParts {
  readonly store: UsageExportStore;
  readonly usage: Pick<UsageStore, 'kept' | 'about'>;
  readonly config: Pick<UsageExportConfig, 'format' | 'batchSize' | 'subject' | 'delayMs' | 'timeoutMs'>;
  /** Connects to the receiver. May throw. */
  readonly connect: () => Receiver;
  /** UUID of this replica. */
  readonly id: string;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
  /** Called with the number of accepted events. */
  readonly onExported: (kind: ExportedKind, events: number) => void;
  /** Called for every rejected event that the export leaves out. */
  readonly onRejected: () => void;
}

interface During {
  /** Aborted when the process is about to end. */
  readonly signal: AbortSignal;
  /** Called with each saved export position. */
  readonly onPosition: (position: ExportPosition) => void;
  /**
   * Whether the receiver has rejected every event for about an hour. If so, this run leaves out the events that the
   * receiver rejects again.
   */
  readonly isLastTry: boolean;
}

/** Milliseconds by which the export lock's duration exceeds the longest time that a batch's requests may take. */
const lockMs = 30_000;
/**
 * Number of consecutive rejected events after which the run gives up, because the receiver is probably at fault, not
 * the events.
 */
const mostRejectedInARow = 1_000;

/** Returns the holder and duration of the export lock. Saving an export position renews the lock. */
export function lockOf({ id, config }: RunParts): Pick<ExportLock, 'holder' | 'leaseMs'> {
  const requests = config.format === 'batch' ? 1 : Math.ceil(batchOf(config) / singlesAtOnce);
  return { holder: id, leaseMs: lockMs + config.timeoutMs * requests };
}

/**
 * Exports closed hours that have not been exported yet, then corrections. Saves the export position after each accepted
 * batch.
 *
 * @throws PushFailed if the receiver does not accept the next events; {@link PushFailed.aboutEvents} is true if the
 *   receiver rejected the content of every event pushed since the saved position
 */
export async function exportRun(parts: RunParts, state: ExportState, during: During): Promise<void> {
  const { position, closedUntilMs: untilMs, beganMs: correctionsFromMs } = state;
  if (position === null) return;
  const run = new Run(parts, position, `urn:uuid:${(await parts.usage.about()).id}`, during);
  const from = await run.skipDeleted();
  const size = batchOf(parts.config);
  try {
    await run.export(pendingOf(parts.store, { from, untilMs, correctionsFromMs, size }));
  } finally {
    run.end();
  }
}

class Run {
  readonly #parts: RunParts;
  readonly #source: string;
  readonly #during: During;
  readonly #exported = { hour: 0, correction: 0 };
  #receiver: Receiver | undefined;
  /** Export position that the store has saved. */
  #at: ExportPosition;
  /** Export position after the last pushed event; later than `#at` while `#undecided` holds events. */
  #reached: ExportPosition;
  /** Events rejected since the receiver last accepted one: either these events are at fault, or the receiver is. */
  #undecided: RejectedEvent[] = [];
  #isLastTry: boolean;

  constructor(parts: RunParts, at: ExportPosition, source: string, during: During) {
    this.#parts = parts;
    this.#at = at;
    this.#reached = at;
    this.#source = source;
    this.#during = during;
    this.#isLastTry = during.isLastTry;
  }

  /** Skips hours that were deleted before they were exported. */
  async skipDeleted(): Promise<ExportPosition> {
    const { hoursFromMs } = await this.#parts.usage.kept();
    if (this.#at.hourMs < hoursFromMs) {
      const [from, to] = [this.#at.hourMs, hoursFromMs].map((ms) => new Date(ms).toISOString());
      this.#parts.logger.error({ from, to }, 'hours of usage were deleted before they were exported');
      this.#reached = { ...this.#at, hourMs: hoursFromMs, after: null };
      await this.#advance();
    }
    return this.#reached;
  }

  async export(all: AsyncIterable<Pending>): Promise<void> {
    for await (const { kind, rows, through } of all) {
      if (rows.length > 0) await this.#push(kind, rows);
      this.#reached = { ...this.#reached, ...through };
      if (this.#undecided.length >= mostRejectedInARow) this.#giveUp();
      if (!(await this.#advance())) return;
    }
    if (this.#undecided.length === 0) return;
    this.#giveUp();
    await this.#advance();
  }

  /** Closes the connection and logs how many events were exported. */
  end(): void {
    this.#receiver?.close();
    const { hour: events, correction: corrections } = this.#exported;
    if (events + corrections === 0) return;
    const through = new Date(this.#at.hourMs).toISOString();
    this.#parts.logger.info({ events, corrections, through }, 'usage was exported');
  }

  async #push(kind: ExportedKind, rows: readonly ExportedUsage[]): Promise<void> {
    const { config, connect, onExported } = this.#parts;
    this.#receiver ??= connect();
    const about = { source: this.#source, subject: config.subject };
    const events = rows.map((row) => usageEvent(row, about));
    const rejected = await deliverEvents(this.#receiver, events, this.#during.signal);
    this.#undecided.push(...rejected);
    const accepted = events.length - rejected.length;
    if (accepted === 0) return;
    this.#exported[kind] += accepted;
    onExported(kind, accepted);
    // The receiver accepts other events, so the undecided ones must be at fault.
    this.#leaveOut();
  }

  /**
   * Leaves out the undecided events if this is the last try. Called at the end of the run, and earlier if too many
   * events are undecided.
   *
   * @throws PushFailed if this is not the last try, or if the receiver's address may be wrong
   */
  #giveUp(): void {
    const [first] = this.#undecided;
    const maybeAboutAddress = this.#undecided.some(({ error }) => error.maybeAboutAddress);
    // A receiver at a wrong address rejects every event on every try. In that case the events are not left out.
    if (first !== undefined && (!this.#isLastTry || maybeAboutAddress)) throw first.error;
    this.#leaveOut();
    // The remaining events have not been tried before, so this is not their last try.
    this.#isLastTry = false;
  }

  #leaveOut(): void {
    const { logger, onRejected } = this.#parts;
    for (const { event, error } of this.#undecided) {
      logger.error({ event, err: error }, 'the receiver of usage rejects an event; it is left out');
      onRejected();
    }
    this.#undecided = [];
  }

  /** Saves the export position and renews the export lock. @returns whether this replica still holds the lock */
  async #advance(): Promise<boolean> {
    // The saved position stays before undecided events, so that the next holder of the lock sends them again.
    const position = this.#undecided.length === 0 ? this.#reached : this.#at;
    const mine = await this.#parts.store.advance(lockOf(this.#parts), position);
    if (!mine) return false;
    this.#at = position;
    this.#during.onPosition(position);
    return true;
  }
}
