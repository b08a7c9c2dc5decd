import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { FolderInUse, lockFolder } from '../../adapters/files/folder-lock.ts';
import type { UsageConfig } from '../../config.ts';
import { uuidV7 } from '../../domain/ids.ts';
import type { Logger } from '../../ops/logger.ts';
import { counter, gauge } from '../../ops/metrics.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Seq } from '../../ports/facts.ts';
import type { Timers } from '../../ports/timers.ts';
import type { UsageStore } from '../../ports/usage.ts';
import { replayAbandoned } from '../../usage/journal/abandoned.ts';
import { Journal, type LockFolder } from '../../usage/journal/journal.ts';
import { UsageRecorder } from '../../usage/recorder.ts';
import { within } from '../../timing/within.ts';
import { PortionSize } from '../../usage/portion-size.ts';
import { StoreClock } from '../../usage/store-clock.ts';

export interface CountingParts {
  readonly config: Pick<UsageConfig, 'journalDir' | 'journalMaxBytes' | 'keysPerAccountHour'>;
  readonly store: UsageStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
  /** @see UsageRecorderParts.readThrough */
  readonly readThrough: () => Seq | null;
}

/** Counts this process's requests, and adds the counts in dead processes' journals to the store. */
export interface Counting {
  readonly usage: UsageRecorder;
  /** Starts adding this process's counts and dead processes' counts to the store. @see UsageRecorder.begin */
  begin(): Promise<void>;
  /** Adds all counts so far to the store. Gives up after `withinMs` milliseconds; never rejects. */
  deliver(withinMs: number): Promise<void>;
  /** Records that the process must end within `withinMs` milliseconds. */
  leave(withinMs: number): void;
  /** Adds the remaining counts to the store and stops. @see UsageRecorder.stop */
  stop(): Promise<number>;
}

/** Error for a process that ends before all its counts are in the store. */
export class UsageLeft extends Error {
  override readonly name = 'UsageLeft';

  constructor(requests: number) {
    super(`the usage of ${requests} requests was not added to the store`);
  }
}

/** Milliseconds reserved at the end of a drain for the steps after usage has been stored. */
const lastStepsMs = (drainMs: number): number => Math.min(1_000, drainMs / 10);

/** Makes the parts that count requests, and their metrics. */
export function makeCounting(parts: CountingParts): Counting {
  const { config, store, registry } = parts;
  const id = uuidV7(parts.clock.wallMs(), randomBytes(10));
  const { journalDir: dir, journalMaxBytes: mostBytes, keysPerAccountHour } = config;
  const journal = new Journal({ dir, id, mostBytes, lock });
  const { onSetAside, ...onFault } = countedFaults(registry);
  const host = hostname();
  const usage = new UsageRecorder({
    ...{ ...parts, keysPerAccountHour, host, journal, onSetAside },
    ...onFault,
  });
  gauge(
    registry,
    'usage_lag_seconds',
    'Age of the oldest usage that is not yet in the store.',
    () => usage.lagMs() / 1000,
  );
  gauge(
    registry,
    'usage_journal_unwritable',
    '1 while the usage journal cannot be written, so that a crash would lose counts.',
    () => Number(usage.unwritable),
  );
  gauge(registry, 'usage_journal_bytes', 'Size of the usage journal on disk.', () => journal.bytes, 'sum');

  let addUntilMs = 0;
  let stopReplaying = async (): Promise<void> => undefined;
  return {
    usage,
    begin: async () => {
      const storeId = await usage.begin();
      const delivery = { store, clock: new StoreClock(parts.clock), portion: new PortionSize(), onSetAside };
      stopReplaying = replayAbandoned(
        { ...parts, ...delivery, keysPerAccountHour, dir, own: id, lock },
        storeId,
      );
    },
    deliver: (withinMs) => within(parts.timers, withinMs, usage.deliver()).catch(() => undefined),
    leave: (withinMs) => void (addUntilMs = parts.clock.monotonicMs() + withinMs - lastStepsMs(withinMs)),
    stop: async () => {
      await stopReplaying();
      const requests = await usage.stop(addUntilMs);
      if (requests > 0)
        parts.logger.error(
          { requests, journal: usage.journalFolder },
          'usage could not be added to the store before the end; it stays in the journal',
        );
      return requests;
    },
  };
}

/** Makes the metrics of what is not counted as it should be. */
function countedFaults(registry: Registry) {
  const setAside = counter(
    registry,
    'usage_rows_set_aside_total',
    'Rows of usage whose content the database rejected; the log has them.',
  );
  const lost = counter(
    registry,
    'usage_lost_requests_total',
    'Requests that were not counted, because the journal cannot be written and memory is full.',
  );
  const malformed = counter(
    registry,
    'usage_malformed_units_total',
    'Responses whose units (`usage.units_header`) could not be read and count as 0.',
  );
  return {
    onSetAside: () => setAside.count(),
    onLost: () => lost.count(),
    onMalformedUnits: () => malformed.count(),
  };
}

const lock: LockFolder = async (folder) => {
  try {
    return await lockFolder(folder);
  } catch (error) {
    if (error instanceof FolderInUse) return null;
    throw error;
  }
};
