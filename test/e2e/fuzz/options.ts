import type { Kept } from './corpus.ts';
import type { Tally } from './tally.ts';
import type { WorldOptions } from './world.ts';

export interface RunOptions extends Omit<WorldOptions, 'config'> {
  readonly seed: number;
  /** Inputs to draw, beside those of the corpus; the run also ends when `until` says so. */
  readonly count: number;
  readonly until: () => boolean;
  readonly tally: Tally;
  /** Inputs to try instead of drawing any. */
  readonly only?: readonly Kept[];
  /** Told what goes wrong while it does. */
  readonly say?: (line: string) => void;
}
