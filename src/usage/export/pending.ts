import type { ExportedUsage } from '../../domain/usage-event.ts';
import { hourMs } from '../../domain/usage.ts';
import type { ExportPosition, UsageExportStore } from '../../ports/usage/export.ts';

export type ExportedKind = 'hour' | 'correction';

/** Rows to push together, and the export position that is reached once the receiver has accepted the rows. */
export interface Pending {
  readonly kind: ExportedKind;
  /** Empty if nothing up to `through` needs exporting. */
  readonly rows: readonly ExportedUsage[];
  readonly through: Partial<ExportPosition>;
}

interface PendingQuery {
  readonly from: ExportPosition;
  /** End of the last hour to export, in milliseconds since 1970. */
  readonly untilMs: number;
  /** Start of the first hour whose corrections are exported, in milliseconds since 1970. */
  readonly correctionsFromMs: number;
  /** Number of rows in a batch. */
  readonly size: number;
}

type Source = Pick<UsageExportStore, 'hour' | 'corrections'>;

/** Number of accounts or corrections read at once. */
const portion = 1_000;

/**
 * Yields the rows still to be exported: first hours, then corrections. Hours with few rows share a batch, because large
 * batches are better evidence: a receiver that rejects a whole large batch is probably at fault, not the rows.
 */
export async function* pendingOf(store: Source, query: PendingQuery): AsyncGenerator<Pending, void> {
  yield* pendingHours(store, query);
  yield* pendingCorrections(store, query);
}

async function* pendingHours(
  store: Source,
  { from, untilMs, size }: PendingQuery,
): AsyncGenerator<Pending, void> {
  const kind = 'hour';
  let { hourMs: of, after } = from;
  let rows: ExportedUsage[] = [];
  while (of < untilMs) {
    const { rows: found, next } = await store.hour(of, after, portion);
    rows.push(...found);
    [of, after] = next === null ? [of + hourMs, null] : [of, next];
    for (; rows.length >= size; rows = rows.slice(size)) yield pendingHour(rows.slice(0, size));
    // Yields even without rows, so that the position is saved and the export lock renewed while there is little usage.
    yield { kind, rows: [], through: rows.length === 0 ? { hourMs: of, after } : {} };
  }
  if (rows.length > 0) yield { kind, rows, through: { hourMs: of, after } };
}

function pendingHour(rows: readonly ExportedUsage[]): Pending {
  const last = rows.at(-1);
  const through = last === undefined ? {} : { hourMs: last.hourMs, after: last.accountId };
  return { kind: 'hour', rows, through };
}

async function* pendingCorrections(
  store: Source,
  { from, correctionsFromMs: fromMs, size }: PendingQuery,
): AsyncGenerator<Pending, void> {
  for (let after = from.corrections; ;) {
    const found = await store.corrections({ after, fromMs, toMs: Infinity, most: portion });
    for (let i = 0; i < found.length; i += size) {
      const rows = found.slice(i, i + size);
      after = rows.at(-1)?.number ?? after;
      yield { kind: 'correction', rows, through: { corrections: after } };
    }
    if (found.length < portion) return;
  }
}
