import type { Fields } from '../strict-head.ts';
import type { Kind } from './case.ts';

/** A request as an upstream believes to have received it. */
export interface Sighting {
  readonly id: string;
  readonly kind: Kind;
  readonly method: string;
  readonly target: string;
  readonly fields: Fields;
  readonly body: string;
}

/** Takes note of a request; the response to it is to carry the id in `X-Seen`. */
export type Witness = (seen: Omit<Sighting, 'id'>) => string;
