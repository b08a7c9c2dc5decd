/** Exit codes of the command line. The codes from 64 on are those of sysexits.h. */
export const exitCode = {
  ok: 0,
  failed: 1,
  usage: 64,
  unreachable: 69,
  notAllowed: 77,
  badConfiguration: 78,
} as const;

export type ExitCode = (typeof exitCode)[keyof typeof exitCode];

/** An error that ends a command. The message and the hint are for people; `details` are written only with `--json`. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: ExitCode;
  /** Advice for the next attempt. */
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
