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
