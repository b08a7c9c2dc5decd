import type { OperatorApi } from './operator-api.ts';
import type { Output } from './output.ts';
import type { Target } from './target.ts';

/** What every command works with. */
export interface Context {
  readonly env: NodeJS.ProcessEnv;
  /** The operator API of the gateway that the options and variables name. @throws {Failure} */
  readonly api: () => OperatorApi;
  /** Where that gateway is, and the token it is told. @throws {Failure} */
  readonly target: () => Target;
  readonly output: () => Output;
}
