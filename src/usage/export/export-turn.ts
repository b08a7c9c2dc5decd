import type { Logger } from 'pino';
import type { UsageExportConfig } from '../../config.ts';
import { usageEvent, type ExportedUsage } from '../../domain/usage-event.ts';
import { hourMs } from '../../domain/usage.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { ExportPosition, ExportState, ExportTurn, UsageExportStore } from '../../ports/usage/export.ts';
import type { Receiver } from '../../ports/usage/receiver.ts';
import { batchesOf, batchOf } from './batches.ts';
import { deliverEvents } from './deliver-events.ts';

export type ExportedKind = 'hour' | 'correction';

export interface TurnParts {
  readonly store: UsageExportStore;
  readonly usage: Pick<UsageStore, 'kept' | 'about'>;
  readonly config: Pick<UsageExportConfig, 'format' | 'batchSize' | 'subject' | 'delayMs' | 'timeoutMs'>;
  /** Connects to the receiver. May throw. */
  readonly connect: () => Receiver;
  /** Of this replica, a UUID. */
  readonly id: string;
  readonly logger: Pick<Logger, 'error' | 'warn' | 'info'>;
  /** Is told of events that were accepted. */
  readonly onExported: (kind: ExportedKind, events: number) => void;
  /** Is told of an event that was rejected, and is left out. */
  readonly onRejected: () => void;
}

interface During {
  /** Aborted where the process is about to end. */
  readonly signal: AbortSignal;
  /** Is told how far the export has got. */
  readonly onPosition: (position: ExportPosition) => void;
}

/** Accounts, and corrections, that are read at once. */
const portion = 1_000;
/** What a turn lasts beside the time that the receiver may take for a batch. */
const turnMs = 30_000;

/** How long a replica has the turn, unless it goes on. */
export function turnOf({ id, config }: TurnParts): Pick<ExportTurn, 'holder' | 'leaseMs'> {
  const requests = config.format === 'batch' ? 1 : batchOf(config);
  return { holder: id, leaseMs: turnMs + config.timeoutMs * requests };
}

/**
 * Exports what is closed and not yet exported: hours, then corrections. Where it ends before that, what was accepted is noted.
 *
 * @throws PushFailed where the receiver does not accept what is next
 */
export async function exportTurn(parts: TurnParts, state: ExportState, during: During): Promise<void> {
  const { position, closedUntilMs, beganMs } = state;
  if (position === null) return;
  const turn = new Turn(parts, position, `urn:uuid:${(await parts.usage.about()).id}`, during);
  await turn.skipDeleted();
  try {
    if (await turn.exportHours(closedUntilMs)) await turn.exportCorrections(beganMs);
  } finally {
    turn.end();
  }
}

class Turn {
  readonly #parts: TurnParts;
  readonly #source: string;
  readonly #during: During;
  readonly #exported = { hour: 0, correction: 0 };
  #receiver: Receiver | undefined;
  #at: ExportPosition;

  constructor(parts: TurnParts, at: ExportPosition, source: string, during: During) {
    this.#parts = parts;
    this.#at = at;
    this.#source = source;
    this.#during = during;
  }

  /** Goes on at the first hour that is kept: those before are gone. */
  async skipDeleted(): Promise<void> {
    const { hoursFromMs } = await this.#parts.usage.kept();
    if (this.#at.hourMs >= hoursFromMs) return;
    const [from, to] = [this.#at.hourMs, hoursFromMs].map((ms) => new Date(ms).toISOString());
    this.#parts.logger.error({ from, to }, 'hours of usage were deleted before they were exported');
    await this.#advance({ hourMs: hoursFromMs, after: null });
  }

  /** @returns whether it is still the turn of this replica */
  async exportHours(untilMs: number): Promise<boolean> {
    const { store } = this.#parts;
    while (this.#at.hourMs < untilMs) {
      const { hourMs: of, after } = this.#at;
      const { rows, next } = await store.hour(of, after, portion);
      for (const batch of batchesOf(rows, batchOf(this.#parts.config))) {
        await this.#push('hour', batch);
        if (!(await this.#advance({ hourMs: of, after: batch.at(-1)?.accountId ?? null }))) return false;
      }
      const ended = next === null ? { hourMs: of + hourMs, after: null } : { hourMs: of, after: next };
      if (!(await this.#advance(ended))) return false;
    }
    return true;
  }

  async exportCorrections(fromMs: number): Promise<void> {
    const { store, config } = this.#parts;
    for (;;) {
      const after = this.#at.corrections;
      const found = await store.corrections({ after, fromMs, toMs: Infinity, most: portion });
      for (const batch of batchesOf(found, batchOf(config))) {
        await this.#push('correction', batch);
        if (!(await this.#advance({ corrections: batch.at(-1)?.number ?? after }))) return;
      }
      if (found.length < portion) return;
    }
  }

  /** Closes the connection, and says what was exported. */
  end(): void {
    this.#receiver?.close();
    const { hour: events, correction: corrections } = this.#exported;
    if (events + corrections === 0) return;
    const through = new Date(this.#at.hourMs).toISOString();
    this.#parts.logger.info({ events, corrections, through }, 'usage was exported');
  }

  async #push(kind: ExportedKind, rows: readonly ExportedUsage[]): Promise<void> {
    const { config, connect, logger, onExported, onRejected } = this.#parts;
    this.#receiver ??= connect();
    const about = { source: this.#source, subject: config.subject };
    const events = rows.map((row) => usageEvent(row, about));
    const rejected = await deliverEvents(this.#receiver, events, this.#during.signal);
    for (const { event, error } of rejected) {
      logger.error({ event, err: error }, 'the receiver of usage rejects an event; it is left out');
      onRejected();
    }
    const accepted = events.length - rejected.length;
    this.#exported[kind] += accepted;
    onExported(kind, accepted);
  }

  async #advance(change: Partial<ExportPosition>): Promise<boolean> {
    const position = { ...this.#at, ...change };
    const mine = await this.#parts.store.advance(turnOf(this.#parts), position);
    if (!mine) return false;
    this.#at = position;
    this.#during.onPosition(position);
    return true;
  }
}
