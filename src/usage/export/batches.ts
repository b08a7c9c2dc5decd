import type { UsageExportConfig } from '../../config.ts';

/** Events between two notes of the position where each is a request. */
const singleEvents = 20;

/** Events that are pushed together. */
export function batchOf({ format, batchSize }: Pick<UsageExportConfig, 'format' | 'batchSize'>): number {
  return format === 'batch' ? batchSize : Math.min(batchSize, singleEvents);
}

/** What is pushed together, in its order. */
export function batchesOf<T>(rows: readonly T[], size: number): (readonly T[])[] {
  const batches: (readonly T[])[] = [];
  for (let from = 0; from < rows.length; from += size) batches.push(rows.slice(from, from + size));
  return batches;
}
