import type { OperatorApi } from './operator-api.ts';
import type { Output } from './output.ts';
import type { Target } from './target.ts';

/** Dependencies of every command. */
export interface Context {
  readonly env: NodeJS.ProcessEnv;
  /** Operator API of the gateway that the options and variables name. @throws {Failure} */
  readonly api: () => OperatorApi;
  /** Address of that gateway, and the token for it. @throws {Failure} */
  readonly target: () => Target;
  readonly output: () => Output;
}
