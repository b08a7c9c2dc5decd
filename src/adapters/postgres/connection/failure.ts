import { ProblemError } from '../../../domain/problem.ts';

/** Seconds after which a client may try again: about what a fail-over of a connection takes. */
const retryAfter = 1;

/** The store could not be asked, or did not respond in time. @param cause for the log alone */
export function unavailable(cause: unknown): ProblemError {
  return new ProblemError(
    { code: 'unavailable', detail: 'The store cannot be reached right now. Try again.', retryAfter },
    { cause },
  );
}

/** The store gave a statement up that took too long: it is there, and a smaller one may succeed. */
function tooSlow(cause: unknown): ProblemError {
  const detail = 'The store took too long for this. Try again; of a list send fewer elements at once.';
  return new ProblemError({ code: 'unavailable', detail, retryAfter, extra: { reason: 'slow' } }, { cause });
}

/** The store responds, but a tenant asks for more at once than its turns come to. */
export function tooManyRequests(): ProblemError {
  return new ProblemError({
    code: 'too_many_requests',
    detail: 'Too many requests of this account wait for the store already. Send fewer of them at once.',
    retryAfter,
    limit: 'store_queue',
  });
}

/**
 * What a failed statement means to a client. Text that PostgreSQL cannot hold is the client's fault; a broken
 * constraint or a statement that makes no sense is ours; everything else is the store being away, overloaded, read-only
 * or not migrated yet, where the same request may succeed later. Nothing of the cause reaches the client.
 */
export function storeFailure(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const code = sqlState(error);
  if (code === olderReplicas) return olderReplicasRun(error);
  if (code === statementTimeout) return tooSlow(error);
  if (unstorableText.has(code)) {
    return new ProblemError(
      { code: 'invalid_request', detail: 'A text holds characters that cannot be stored, such as NUL.' },
      { cause: error },
    );
  }
  if (ourFault.test(code)) {
    return new ProblemError({ code: 'internal', detail: 'The gateway failed.' }, { cause: error });
  }
  return unavailable(error);
}

/**
 * Whether a statement failed because of the values it was given: a data exception or a broken constraint (SQLSTATE classes 22 and
 * 23). The same values will fail again.
 * @param error as {@link storeFailure} has made it
 */
export function isRejectedValue(error: unknown): boolean {
  return error instanceof ProblemError && /^2[23]/.test(sqlState(error.cause));
}

/** `query_canceled`: by `statement_timeout`, since nothing else cancels statements here. */
const statementTimeout = '57014';

/** Raised by `fleet_require`; the versions are its `detail`. */
const olderReplicas = 'TG001';

/** Seconds: about what one replica of a rolling upgrade takes. */
const retryAfterUpgrade = 5;

/** A change that a 2xx would promise more of than each registered replica can enforce. */
function olderReplicasRun(error: unknown): ProblemError {
  const { detail: versions } = error as { readonly detail?: string };
  return new ProblemError(
    {
      code: 'unavailable',
      detail: `Replicas of an earlier version (${versions}) still run, which cannot enforce this. Try again when they have been replaced.`,
      retryAfter: retryAfterUpgrade,
    },
    { cause: error },
  );
}

/** `untranslatable_character`, `character_not_in_repertoire`, `invalid_text_representation` (a lone surrogate in JSON). */
const unstorableText = new Set(['22P05', '22021', '22P02']);

/** Data exceptions, constraint violations, cardinality, and syntax errors except for names that do not exist yet. */
const ourFault = /^(?:2[123]...|426..|42804|42P1[0-9]|42702|42725)$/;

/** The five-character SQLSTATE, or the client library's own code, or nothing. */
function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
