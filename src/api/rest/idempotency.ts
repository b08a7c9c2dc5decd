import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdempotencyClaim, Replay } from '../../ports/changes.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { headerValues } from '../../http/raw-headers.ts';

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
