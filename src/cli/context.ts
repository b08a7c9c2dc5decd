import type { OperatorApi } from './operator-api.ts';
import type { Output } from './output.ts';
import type { Surroundings } from './surroundings.ts';
import type { Target } from './target.ts';

/** Dependencies of every command. */
export interface Context extends Surroundings {
  /** Returns the operator API of the gateway named by the options or environment variables. @throws {Failure} */
  readonly api: () => OperatorApi;
  /** Returns the address and token of the gateway named by the options or environment variables. @throws {Failure} */
  readonly target: () => Target;
  readonly output: () => Output;
}
