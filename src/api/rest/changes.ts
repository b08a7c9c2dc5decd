import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { headerValues } from '../../domain/header-names.ts';
import { ProblemError } from '../../domain/problem.ts';
import { invalidField } from '../../http/invalid-request.ts';
import type { Barrier, Receipt } from '../../ports/barrier.ts';
import type { IdempotencyClaim, Replay } from '../../ports/changes.ts';
import type { Committed, ExternalIdTaken, IdTaken, LimitReached } from '../../ports/tenant-store.ts';

/**
 * The claim of a request that has an `Idempotency-Key`; `null` without one. To be handed to the mutation it asks for.
 *
 * @throws ProblemError `invalid_request` where the header is malformed or was sent twice
 */
export function idempotencyClaim(
  request: FastifyRequest,
  caller: IdempotencyClaim['caller'],
): IdempotencyClaim | null {
  const [key, ...more] = headerValues(request.raw.rawHeaders, 'idempotency-key');
  if (key === undefined) return null;
  if (more.length > 0) throw invalidField('Idempotency-Key', 'must be sent once.');
  if (!keyForm.test(key)) throw invalidField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters.');
  return { caller, key: sha256(key), fingerprint: sha256(canonical(request)) };
}

/** Says in the response that it reports what an earlier request made. */
export function noteReplay(reply: FastifyReply, { replayed }: Replay): void {
  if (replayed) reply.header('idempotency-replayed', 'true');
}

/**
 * Returns what was made, or throws a 409 where another account has what it was to have.
 *
 * @param kind of the accounts among which an `external_id` is unique
 */
export function notTaken<T extends object>(
  outcome: T | ExternalIdTaken | IdTaken,
  kind: 'account' | 'sub_account',
): T {
  if ('idTaken' in outcome)
    throw new ProblemError({ code: 'id_taken', detail: 'Another account has this id.' });
  if (!('taken' in outcome)) return outcome;
  const { taken } = outcome;
  throw new ProblemError({
    code: 'external_id_taken',
    detail:
      kind === 'account'
        ? `The account ${taken} has this external_id.`
        : `The sub-account ${taken} has this external_id. A deactivated sub-account keeps it, too.`,
    extra: { [`${kind}_id`]: taken },
  });
}

/** Returns what was made, or throws a 409. @param what plural, such as `API keys` */
export function withinLimit<T extends object>(outcome: T | LimitReached, what: string): T {
  if (!('limit' in outcome)) return outcome;
  throw new ProblemError({ code: 'limit_reached', detail: `There may be ${outcome.limit} ${what} at most.` });
}

/**
 * Waits until every replica decides by what was committed, says so in the receipt header, and gives the result.
 * Where no replica can hold an outdated fact (`seq: null`) there is nothing to wait for: no header then.
 *
 * @param header name of the receipt header, `X-Service-Enforced` unless configured
 * @param count is told, before the wait, that there is something to wait for; absent for operators, who have no limit
 * @throws ProblemError `unavailable` where enforcement cannot be known; the change is committed and may be repeated
 */
export async function enforced<T>(
  { value, seq, incarnation }: Committed<T>,
  barrier: Barrier,
  reply: FastifyReply,
  header: string,
  count?: (request: FastifyRequest) => void,
): Promise<T> {
  if (seq === null) return value;
  count?.(reply.request);
  reply.header(header, receiptText(await barrier.enforced(seq, incarnation)));
  return value;
}

/** Such as `replicas=3; ms=4`; what is out of the ordinary is named when there is some. */
export function receiptText({ replicas, ms, timedOut, streamsClosed }: Receipt): string {
  const parts = [`replicas=${replicas}`, `ms=${Math.ceil(ms)}`];
  if (timedOut > 0) parts.push(`unheard=${timedOut}`);
  if (streamsClosed > 0) parts.push(`streams=${streamsClosed}`);
  return parts.join('; ');
}

const keyForm = /^[!-~]{1,255}$/;

/** One text for what is asked for: ids in lower case, members of the body sorted, no spaces. */
function canonical({ method, url, body }: FastifyRequest): string {
  return JSON.stringify(
    [method, url.split('?', 1)[0]?.toLowerCase(), body ?? null],
    (_name, value: unknown) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
  );
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
