import type { UsageExportConfig } from '../../config.ts';
import { usageEvent, type ExportedUsage, type UsageEvent } from '../../domain/usage-event.ts';
import { hourMs, type UsagePeriod } from '../../domain/usage.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { UsageExportStore } from '../../ports/usage/export.ts';
import type { Receiver } from '../../ports/usage/receiver.ts';
import type { ReplayCursor, UsageReplay } from '../../ports/usage/replay.ts';
import { deliverEvents } from './deliver-events.ts';
import { batchesOf, batchOf } from './batches.ts';

export interface UsageReplayParts {
  readonly store: Pick<UsageExportStore, 'closedUntil' | 'hour' | 'corrections'>;
  readonly usage: Pick<UsageStore, 'about'>;
  readonly config: Pick<UsageExportConfig, 'format' | 'batchSize' | 'subject'>;
  /** Connects to the receiver. May throw. */
  readonly connect: () => Receiver;
}

/** A call stops reading after this many events. */
const eventsOfCall = 500;
/** Maximum number of accounts per read. */
const accountsOfPortion = 1_000;
/** Maximum number of reads per call, even if they find few events. */
const portionsOfCall = 50;

/** Exports past hours of usage again, for a receiver that has lost them or was added later. */
export function usageReplay({ store, usage, config, connect }: UsageReplayParts): UsageReplay {
  const never = new AbortController().signal;

  async function send(events: readonly UsageEvent[]): Promise<readonly UsageEvent[]> {
    const receiver = connect();
    try {
      const rejected: UsageEvent[] = [];
      for (const batch of batchesOf(events, batchOf(config)))
        rejected.push(...(await deliverEvents(receiver, batch, never)).map(({ event }) => event));
      return rejected;
    } finally {
      receiver.close();
    }
  }

  return {
    closedUntil: () => store.closedUntil(),
    async replay(period, from, push) {
      const { rows, next } = await readPortion(store, period, from);
      const about = { source: `urn:uuid:${(await usage.about()).id}`, subject: config.subject };
      const events = rows.map((row) => usageEvent(row, about));
      return { events, rejected: push ? await send(events) : [], next };
    },
  };
}

async function readPortion(
  store: UsageReplayParts['store'],
  { fromMs, toMs }: UsagePeriod,
  from: ReplayCursor | null,
): Promise<{ readonly rows: readonly ExportedUsage[]; readonly next: ReplayCursor | null }> {
  const rows: ExportedUsage[] = [];
  let at: ReplayCursor | null = from ?? { hourMs: fromMs, after: null };
  for (let portions = 0; at !== null && rows.length < eventsOfCall && portions < portionsOfCall; portions++) {
    if ('corrections' in at) {
      const found = await store.corrections({ after: at.corrections, fromMs, toMs, most: eventsOfCall });
      rows.push(...found);
      const last = found.at(-1);
      at = last === undefined || found.length < eventsOfCall ? null : { corrections: last.number };
    } else if (at.hourMs >= toMs) at = { corrections: 0 };
    else {
      const { rows: found, next } = await store.hour(at.hourMs, at.after, accountsOfPortion);
      rows.push(...found);
      at = next === null ? { hourMs: at.hourMs + hourMs, after: null } : { hourMs: at.hourMs, after: next };
    }
  }
  return { rows, next: at };
}
