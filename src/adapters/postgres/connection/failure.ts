import { ProblemError } from '../../../domain/problem.ts';

/** Seconds after which a client may retry: about as long as a connection takes to fail over. */
const retryAfter = 1;

/**
 * Returns the problem for a store that cannot be reached or responds too late.
 *
 * @param cause error for the log; clients do not see it
 */
export function unavailable(cause: unknown): ProblemError {
  return new ProblemError(
    { code: 'unavailable', detail: 'The store cannot be reached right now. Try again.', retryAfter },
    { cause },
  );
}

/**
 * Returns the problem for a statement that took too long. The store is reachable, and a smaller statement may succeed.
 */
function tooSlow(cause: unknown): ProblemError {
  const detail = 'The store took too long for this. Try again; split a long list.';
  return new ProblemError({ code: 'unavailable', detail, retryAfter, extra: { reason: 'slow' } }, { cause });
}

/** Returns the problem for a tenant that already has too many statements waiting for a connection. */
export function tooManyRequests(): ProblemError {
  return new ProblemError({
    code: 'too_many_requests',
    detail: 'Too many requests of this account wait for the store already. Send fewer of them at once.',
    retryAfter,
    limit: 'store_queue',
  });
}

/**
 * Turns a failed statement's error into a problem. Text that PostgreSQL cannot store is the client's fault; a violated
 * constraint or invalid SQL is the gateway's. Timeouts, and changes that older replicas cannot enforce, get problems of
 * their own. All other errors mean that the same request may succeed later, because the store is unreachable,
 * overloaded, read-only or not migrated yet. The problem does not tell the client which of these it was.
 */
export function storeFailure(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const code = sqlState(error);
  if (code === olderReplicas) return olderReplicasRun(error);
  if (code === budgetSpent) return noMoreToday(error);
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
 * Returns whether a statement failed because of its values: a data exception or a violated constraint (SQLSTATE classes
 * 22 and 23). The same values will fail again.
 * @param error result of {@link storeFailure}
 */
export function isRejectedValue(error: unknown): boolean {
  return error instanceof ProblemError && /^2[23]/.test(sqlState(error.cause));
}

/** SQLSTATE `query_canceled`: the statement has exceeded `statement_timeout`. */
const statementTimeout = '57014';

/** Error code raised by `fleet_require`, which lists the versions of the older replicas in `detail`. */
const olderReplicas = 'TG001';

/** Error code raised by `require_budget`, which gives the seconds until the next day in `detail`. */
const budgetSpent = 'TG004';

/** Returns the problem for a parent whose changes have left as much today as a day allows. */
function noMoreToday(error: unknown): ProblemError {
  const { detail: seconds } = error as { readonly detail?: string };
  return new ProblemError({
    code: 'too_many_requests',
    detail:
      'The changes of this account have left as many events, or new API keys, as a day allows. Nothing was changed. What only takes rights away, such as a revocation, still works.',
    retryAfter: Number(seconds),
    limit: 'changes_of_day',
  });
}

/** Approximate time in seconds that a rolling upgrade takes to replace one replica. */
const retryAfterUpgrade = 5;

/** Returns the problem for a change that is rejected because older registered replicas would not enforce it. */
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

/**
 * SQLSTATE codes for text that cannot be stored: `untranslatable_character`, `character_not_in_repertoire` and
 * `invalid_text_representation` (a lone surrogate in JSON).
 */
const unstorableText = new Set(['22P05', '22021', '22P02']);

/**
 * SQLSTATE codes that mean a bug in the gateway: data exceptions, constraint or cardinality violations, and invalid
 * SQL. Codes for undefined names are not included, because the schema may not have been migrated yet.
 */
const ourFault = /^(?:2[123]...|426..|42804|42P1[0-9]|42702|42725)$/;

/** Returns the five-character SQLSTATE or the client library's own code; an empty string if the error has none. */
function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
