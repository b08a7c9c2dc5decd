import type { Kept } from './corpus.ts';
import type { Tally } from './tally.ts';
import type { WorldOptions } from './world.ts';

/** Which client the gateway forwards with, as a route's `client` names it. */
export const clients = ['native', 'undici'] as const;
export type Client = (typeof clients)[number];

export interface RunOptions extends Omit<WorldOptions, 'config'> {
  readonly client: Client;
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
