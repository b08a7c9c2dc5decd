import type { AccountId } from '../../domain/ids.ts';
import type { ExportedUsage } from '../../domain/usage-event.ts';

/** Progress of the export. All usage before this point has been exported. */
export interface ExportPosition {
  /** Start of the hour that the export continues with, milliseconds since 1970. */
  readonly hourMs: number;
  /** Last account whose usage in the hour `hourMs` has been exported; `null` if there is none. */
  readonly after: AccountId | null;
  /** Number of the last exported correction. */
  readonly corrections: number;
}

export interface ExportState {
  /** Whether this replica holds the export lock. */
  readonly mine: boolean;
  /** Progress of the export; `null` if no replica has started to export yet. */
  readonly position: ExportPosition | null;
  /** End of the closed hours, milliseconds since 1970. Counts that arrive later for closed hours become corrections. */
  readonly closedUntilMs: number;
  /**
   * Start of the first hour that is exported automatically, milliseconds since 1970; Infinity if no hour has been
   * closed yet. Earlier hours are exported only by a replay.
   */
  readonly beganMs: number;
}

/** Request for the export lock, which lets only one replica export at a time. */
export interface ExportLock {
  /** UUID of the replica that asks for the lock. */
  readonly holder: string;
  /** How long the lock lasts unless it is renewed, in milliseconds by the store's clock. */
  readonly leaseMs: number;
  /** Milliseconds from the end of an hour until it may be closed. */
  readonly delayMs: number;
  /** How many milliseconds the export waits for a silent replica's counts. */
  readonly lostAfterMs: number;
}

/** Query for corrections. */
export interface CorrectionsQuery {
  /** Number of the last correction already read; 0 to start with the first. */
  readonly after: number;
  /** Start of the first hour whose corrections are read, milliseconds since 1970. */
  readonly fromMs: number;
  /** End of the last hour whose corrections are read, milliseconds since 1970. */
  readonly toMs: number;
  readonly most: number;
}

/** A correction to a closed hour's usage. Later corrections have higher numbers. */
export interface Correction extends ExportedUsage {
  readonly number: number;
}

/** Usage to export to a billing system, and the progress of the export. */
export interface UsageExportStore {
  /**
   * Takes or renews the export lock. If that succeeds, closes every hour that can be closed. Changes nothing if another
   * replica holds the lock.
   */
  begin(lock: ExportLock): Promise<ExportState>;
  /**
   * Saves the progress and renews the lock.
   * @returns `false` if another replica has taken the lock and nothing was saved
   */
  advance(lock: Pick<ExportLock, 'holder' | 'leaseMs'>, position: ExportPosition): Promise<boolean>;
  /** Releases the lock if this replica holds it. */
  end(holder: string): Promise<void>;
  /** End of the closed hours, milliseconds since 1970; -Infinity before the first export. */
  closedUntil(): Promise<number>;
  /**
   * Returns accounts' usage in an hour, as it was when the hour was closed. Repeated calls return the same usage as
   * long as the store keeps the hour.
   * @param after `next` of the previous page; `null` for the first page
   * @param most maximum number of accounts to return. A call also looks at no more than this many parents
   * @returns `next` is the account after which the next page begins; `null` if the page is the last one
   */
  hour(
    hourMs: number,
    after: AccountId | null,
    most: number,
  ): Promise<{ readonly rows: readonly ExportedUsage[]; readonly next: AccountId | null }>;
  /** Returns corrections to closed hours, ordered by number. */
  corrections(query: CorrectionsQuery): Promise<readonly Correction[]>;
}
