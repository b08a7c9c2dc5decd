import type { Machine } from '../machine.ts';
import type { Result } from '../measure.ts';

/** Everything a run found out, as it is kept in `.cache/bench/`. */
export interface RunRecord {
  /** ISO 8601, when it began. */
  readonly began: string;
  readonly minutes: number;
  readonly command: string;
  /** How often the targets were started anew. */
  readonly starts: number;
  /** Of each start. */
  readonly rounds: number;
  readonly seconds: number;
  readonly rate: number;
  readonly streams: number;
  readonly machine: Machine;
  readonly targets: readonly TargetRecord[];
  readonly results: readonly Result[];
  /** Names of the two targets that a run with `--against` compares: the other build, and this tree's. */
  readonly builds?: readonly [a: string, b: string];
}

/** A target that was measured, or why it was not. */
export interface TargetRecord {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly skipped?: string;
  readonly memory?: Memory;
}

/** Resident memory of the proxy, megabytes. */
export interface Memory {
  readonly atStart: number;
  readonly peak: number;
  readonly atEnd: number;
}
