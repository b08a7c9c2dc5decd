import type { AccountId } from '../../domain/ids.ts';
import type { ExportedUsage } from '../../domain/usage-event.ts';

/** Position of the export: everything before it is exported. */
export interface ExportPosition {
  /** Start of the next hour to export, milliseconds since 1970. */
  readonly hourMs: number;
  /** Last exported account of that hour; `null` at its start. */
  readonly after: AccountId | null;
  /** Number of the last exported correction. */
  readonly corrections: number;
}

export interface ExportState {
  /** Whether this replica holds the export lock. */
  readonly mine: boolean;
  /** `null` before the first export of any replica. */
  readonly position: ExportPosition | null;
  /** Hours before this are closed: later counts for them are corrections. */
  readonly closedUntilMs: number;
  /** Start of the first hour that is exported automatically. */
  readonly beganMs: number;
}

/** A claim on the export lock. */
export interface ExportLock {
  /** UUID of the replica. */
  readonly holder: string;
  /** Duration of the lock without renewal, by the clock of the store. */
  readonly leaseMs: number;
  /** Delay from the end of an hour until it may be closed, milliseconds. */
  readonly delayMs: number;
  /** Milliseconds for which the export waits for a silent replica. */
  readonly lostAfterMs: number;
}

/** Query for corrections. */
export interface CorrectionsQuery {
  /** Number of the last correction that was read; 0 for the first. */
  readonly after: number;
  /** Start of the first hour. */
  readonly fromMs: number;
  /** End of the last hour. */
  readonly toMs: number;
  readonly most: number;
}

/** A correction. Later ones have greater numbers. */
export interface Correction extends ExportedUsage {
  readonly number: number;
}

/** Usage to export to a billing system, and the position of the export. */
export interface UsageExportStore {
  /** Takes or renews the export lock, unless another replica holds it; then closes the hours that can be closed. */
  begin(lock: ExportLock): Promise<ExportState>;
  /** Saves the position and renews the lock. @returns `false` if another replica holds the lock by now */
  advance(lock: Pick<ExportLock, 'holder' | 'leaseMs'>, position: ExportPosition): Promise<boolean>;
  /** Releases the lock if this replica holds it. */
  end(holder: string): Promise<void>;
  /** End of the closed hours, milliseconds since 1970; -Infinity before the first export. */
  closedUntil(): Promise<number>;
  /**
   * Usage of accounts in an hour, as it was when the hour was closed; the result stays the same while the hour is kept.
   * @param after last account of the previous page, in the order of ids; `null` for the first page
   * @param most maximum number of accounts to read
   */
  hour(
    hourMs: number,
    after: AccountId | null,
    most: number,
  ): Promise<{ readonly rows: readonly ExportedUsage[]; readonly next: AccountId | null }>;
  /** Corrections of closed hours, in the order in which they arose. */
  corrections(query: CorrectionsQuery): Promise<readonly Correction[]>;
}
