import { formatFaults, type Fault } from '../config/fault.ts';

/** Exit codes of the command line. Codes from 64 up are taken from sysexits.h. */
export const exitCode = {
  ok: 0,
  failed: 1,
  usage: 64,
  unreachable: 69,
  notAllowed: 77,
  badConfiguration: 78,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** An error that ends a command. The message and hint are for the user; `details` are output only with `--json`. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: ExitCode;
  /** Advice on what to try next. */
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ExitCode,
    message: string,
    hint?: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.details = details;
  }
}

/** Members of a problem body that commands read. */
export interface ReadProblem {
  readonly status?: number;
  readonly code?: string;
  /** Why the store failed; see `storeFailure`. */
  readonly reason?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** Returns the problem with which the gateway rejected a call; empty for any other error. */
export function problemIn(error: unknown): ReadProblem {
  return (error instanceof Failure && error.details['problem']) || {};
}

/** Makes the error that lists the faults of the configuration. */
export function badConfiguration(faults: readonly Fault[]): Failure {
  return new Failure(exitCode.badConfiguration, formatFaults(faults).trimEnd(), undefined, { faults });
}
