import { secrets } from '../domain/api-key.ts';

/** The members of an error that are logged. */
export interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
  readonly errors?: readonly ErrorDescription[];
}

const maxDepth = 5;
const maxLength = 4000;

/**
 * Copies the few members of an error that are safe to log. Other members are left out, because drivers attach queries,
 * parameters, command arguments and addresses with passwords to their errors. Secrets in messages and stacks are
 * removed.
 */
export function describeError(error: unknown, depth = 0): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: redact(String(error)) };
  const { code, cause } = error as Error & { code?: unknown };
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const deeper = depth < maxDepth;
  return {
    type: error.name,
    message: redact(error.message),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack === undefined ? {} : { stack: redact(error.stack) }),
    ...(deeper && cause !== undefined ? { cause: describeError(cause, depth + 1) } : {}),
    ...(deeper && errors.length > 0
      ? { errors: errors.slice(0, 10).map((one) => describeError(one, depth + 1)) }
      : {}),
  };
}

/**
 * Cuts a string to at most 4,000 characters and replaces secrets in it: API keys and client secrets with any prefix,
 * even if their last characters are missing; the same in base64, as `Basic` has them; credentials after a scheme; and
 * passwords in addresses. Imported keys in other formats are recognised only after a scheme.
 */
export function redact(text: string): string {
  return (
    firstOf(text)
      .replaceAll(secrets, '[secret]')
      .replaceAll(/\b(bearer|basic)\s+[^\s,;"']+/gi, '$1 [secret]')
      // `token` is an ordinary word, too, so only what is as long as a key follows it.
      .replaceAll(/\b(token|apikey)\s+[^\s,;"']{16,}/gi, '$1 [secret]')
      .replaceAll(/[0-9A-Za-z+/_-]{16,}={0,2}/g, (run) => (hidesSecret(run) ? '[secret]' : run))
      .replaceAll(/(\/\/[^/\s:@]*):[^@\s]+@/g, '$1:[secret]@')
  );
}

/** Whether base64 contains a secret. Its first characters may belong to the text before it, such as `%20`. */
function hidesSecret(base64: string): boolean {
  return [0, 1, 2, 3].some(
    (start) => Buffer.from(base64.slice(start), 'base64').toString('latin1').search(secrets) !== -1,
  );
}

/**
 * Cuts a long string after a space or line break, so that no secret is cut in half. {@link redact} might not recognise
 * half a secret, such as a password without the `@` that follows it.
 */
function firstOf(text: string): string {
  if (text.length <= maxLength) return text;
  const first = text.slice(0, maxLength);
  return first.slice(0, Math.max(first.lastIndexOf(' '), first.lastIndexOf('\n')) + 1);
}
