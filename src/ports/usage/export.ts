import type { AccountId } from '../../domain/ids.ts';
import type { ExportedUsage } from '../../domain/usage-event.ts';

/** How far the export has got: what comes before is out. */
export interface ExportPosition {
  /** The next hour, its start, milliseconds since 1970. */
  readonly hourMs: number;
  /** The account after which to go on in that hour; `null` at its beginning. */
  readonly after: AccountId | null;
  /** The last correction that is out. */
  readonly corrections: number;
}

export interface ExportState {
  /** Whether it is this replica's turn. */
  readonly mine: boolean;
  /** `null` before the first turn of any replica. */
  readonly position: ExportPosition | null;
  /** Hours from before this are closed: what comes to them later is a correction. */
  readonly closedUntilMs: number;
  /** Start of the first hour that is exported by itself. */
  readonly beganMs: number;
}

/** A turn to export. */
export interface ExportTurn {
  /** The replica, a UUID. */
  readonly holder: string;
  /** For how long it is its turn, by the clock of the store, unless it goes on. */
  readonly leaseMs: number;
  /** How long after its end an hour is closed, at least. */
  readonly delayMs: number;
  /** For how long a silent replica is waited for. */
  readonly lostAfterMs: number;
}

/** Which corrections to read. */
export interface CorrectionsQuery {
  /** The one to go on after; 0 for the first. */
  readonly after: number;
  /** Of hours from here on. */
  readonly fromMs: number;
  /** Of hours before. */
  readonly toMs: number;
  readonly most: number;
}

/** A correction, and its place among them: those that come later have a greater number. */
export interface Correction extends ExportedUsage {
  readonly number: number;
}

/** What is exported to a billing system, and how far that has got. */
export interface UsageExportStore {
  /** Takes the turn, if no other replica has it, or goes on with it; then closes the hours that can be. */
  begin(turn: ExportTurn): Promise<ExportState>;
  /** Notes how far the export has got, and goes on with the turn. @returns false where it is another replica's by now */
  advance(turn: Pick<ExportTurn, 'holder' | 'leaseMs'>, position: ExportPosition): Promise<boolean>;
  /** Leaves the turn to others, if it is this replica's. */
  end(holder: string): Promise<void>;
  /** Hours from before this are closed, milliseconds since 1970; -Infinity before the first turn. */
  closedUntil(): Promise<number>;
  /**
   * What accounts had used in an hour when it was closed: the same whenever it is asked for, while the hour is kept.
   * @param after the account to go on after, in the order of their ids; `null` for the first
   * @param most accounts to look at
   */
  hour(
    hourMs: number,
    after: AccountId | null,
    most: number,
  ): Promise<{ readonly rows: readonly ExportedUsage[]; readonly next: AccountId | null }>;
  /** What came to closed hours afterwards, in the order in which it came. */
  corrections(query: CorrectionsQuery): Promise<readonly Correction[]>;
}
