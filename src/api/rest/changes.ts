import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { metadataMaxPairs } from '../../domain/account.ts';
import { headerValues } from '../../domain/header-names.ts';
import { withoutQuery } from '../../domain/paths.ts';
import { ProblemError } from '../../domain/problem.ts';
import { invalidField } from '../../http/invalid-request.ts';
import type { Barrier, Receipt } from '../../ports/barrier.ts';
import type { IdempotencyClaim, Replay } from '../../ports/changes.ts';
import type {
  Committed,
  ExternalIdTaken,
  IdTaken,
  LimitReached,
  NoSuchPlan,
} from '../../ports/tenant-store.ts';

/**
 * Reads a request's `Idempotency-Key` as a claim. The store checks the claim when it makes the change. Returns `null`
 * if the header is absent.
 *
 * @throws ProblemError `invalid_request` if the header is malformed or repeated
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

/** Marks a response if it replays the result of an earlier request. */
export function noteReplay(reply: FastifyReply, { replayed }: Replay): void {
  if (replayed) reply.header('idempotency-replayed', 'true');
}

/** Fault reported if a merge would leave the metadata with too many pairs. */
export const tooManyPairs = `would hold more than ${metadataMaxPairs} pairs.`;

/** Returns a committed change. Throws a 400 if the metadata would have had too many pairs. */
export function withinPairs<T extends object>(outcome: T | 'too-many-pairs'): T {
  if (outcome === 'too-many-pairs') throw invalidField('/metadata', tooManyPairs);
  return outcome;
}

/**
 * Returns a committed change. Throws a 409 if another account already has the id or `external_id`.
 *
 * @param kind kind of the account that has the `external_id`, used in the text of the 409
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

/** Returns a committed change. Throws a 400 if there is no plan with the given name. */
export function withPlan<T extends object>(outcome: T | NoSuchPlan): T {
  if ('noPlan' in outcome) throw invalidField('/plan', 'is not the name of a plan here.');
  return outcome;
}

/** Returns a committed change. Throws a 409 if a limit is reached. @param what plural noun, such as `API keys` */
export function withinLimit<T extends object>(outcome: T | LimitReached, what: string): T {
  if (!('limit' in outcome)) return outcome;
  throw new ProblemError({ code: 'limit_reached', detail: `At most ${outcome.limit} ${what} are allowed.` });
}

/**
 * Waits until every replica enforces a committed change, adds the receipt header, and returns the value. `seq` is
 * `null` if no replica can hold an outdated fact. In this case, the value is returned at once, without the header.
 *
 * @param header name of the receipt header, `X-Service-Enforced` unless configured otherwise
 * @param count counts the change before the wait; absent for operators, who have no limit
 * @throws ProblemError `unavailable` if enforcement cannot be confirmed; the change is committed, and the client may
 * repeat the request
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

/**
 * Formats a receipt, such as `replicas=3; ms=4`. Adds `unheard` if replicas timed out, and `streams` if streams were
 * closed.
 */
export function receiptText({ replicas, ms, timedOut, streamsClosed }: Receipt): string {
  const parts = [`replicas=${replicas}`, `ms=${Math.ceil(ms)}`];
  if (timedOut > 0) parts.push(`unheard=${timedOut}`);
  if (streamsClosed > 0) parts.push(`streams=${streamsClosed}`);
  return parts.join('; ');
}

const keyForm = /^[!-~]{1,255}$/;

/**
 * Returns the canonical form of a request: the method, the path in lower case, and the body as JSON. The JSON has
 * sorted members and no white space. The query is left out.
 */
function canonical({ method, url, body }: FastifyRequest): string {
  return JSON.stringify([method, withoutQuery(url).toLowerCase(), body ?? null], (_name, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

function sha256(text: string): string {
  return hash('sha256', text, 'base64url');
}
