import type { Clock } from '../../ports/clock.ts';
import type { FigureStore, ReplicaFigures } from '../../ports/replica-figures.ts';
import type { OpenTail } from '../../ports/tails.ts';
import type { Timers } from '../../ports/timers.ts';
import { repeat } from '../../timing/repeat.ts';
import type { Unreadiness } from '../health.ts';
import type { TrafficReading } from '../request-metrics.ts';
import { FigureWindow } from './figure-window.ts';

export interface FigureParts {
  readonly store: FigureStore;
  /** Called with the open tails after each report. */
  readonly onTails: (tails: readonly OpenTail[]) => void;
  /** Resolves once the store has been reached and this process registers. */
  readonly begun: Promise<void>;
  /** Returns the id that this process is registered under; `null` until it is registered. */
  readonly replicaId: () => string | null;
  readonly traffic: () => TrafficReading;
  readonly unready: () => readonly Unreadiness[];
  /** Reads the other figures as they are at the moment. */
  readonly state: () => Pick<
    ReplicaFigures,
    'openStreams' | 'openConnections' | 'rssBytes' | 'redis' | 'certificateExpiresMs'
  >;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly timers: Timers;
  readonly logger: { warn(fields: object, message: string): void };
}

const everyMs = 5_000;
/** Number of reports from one deletion of other replicas' old figures to the next: a minute of them. */
const pruneEvery = 12;
const sayAgainMs = 60_000;

/**
 * Stores the figures of this replica every five seconds, from its start on. A report that fails is not repeated, and has no effect on
 * anything else.
 *
 * @returns function that ends the reports and deletes the figures; it never rejects
 */
export function reportFigures(parts: FigureParts): () => Promise<void> {
  const { store, onTails, begun, replicaId, traffic, clock, timers, logger } = parts;
  const window = new FigureWindow(traffic(), clock.monotonicMs());
  let reportedAs: string | null = null;
  let reports = 0;
  let saidMs = -Infinity;
  let running: Promise<void> = Promise.resolve();
  let stop: (() => void) | undefined;
  let ended = false;

  async function report(): Promise<void> {
    const figures = figuresOf(parts, window);
    const replica = replicaId();
    if (replica === null) return;
    reportedAs = replica;
    try {
      onTails(await store.report(replica, figures, reports++ % pruneEvery === 0));
    } catch (err) {
      const nowMs = clock.monotonicMs();
      if (nowMs - saidMs < sayAgainMs) return;
      saidMs = nowMs;
      logger.warn({ err }, 'the figures of this replica could not be stored');
    }
  }

  const start = (): void => {
    if (!ended) stop = repeat(timers, everyMs, () => (running = report()));
  };
  // The code that awaits the start handles its failure.
  begun.then(start, () => undefined);
  return async () => {
    ended = true;
    stop?.();
    await running.catch(() => undefined);
    // If the store is away, the figures are no longer shown after a minute.
    if (reportedAs !== null) await store.remove(reportedAs).catch(() => undefined);
  };
}

function figuresOf({ unready, traffic, state, clock }: FigureParts, window: FigureWindow): ReplicaFigures {
  const reasons = unready().map(({ reason }) => reason);
  return {
    ready: reasons.length === 0,
    unready: reasons,
    ...window.next(traffic(), clock.monotonicMs()),
    ...state(),
  };
}
