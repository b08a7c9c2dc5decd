import type { UsageExportConfig } from '../../config.ts';

/** If each event needs its own request, the export position is saved after at most this many events. */
const singleEvents = 20;
/** Maximum number of concurrent requests, if each event needs its own request. */
export const singlesAtOnce = 4;

/** Returns the number of events to push together. */
export function batchOf({ format, batchSize }: Pick<UsageExportConfig, 'format' | 'batchSize'>): number {
  return format === 'batch' ? batchSize : Math.min(batchSize, singleEvents);
}

/** Splits rows into batches, in order. */
export function batchesOf<T>(rows: readonly T[], size: number): (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  for (let from = 0; from < rows.length; from += size) batches.push(rows.slice(from, from + size));
  return batches;
}
