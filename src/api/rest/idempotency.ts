import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OnceStore, RepeatableRequest, Replay, TenantStore } from '../../ports/tenant-store.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { headerValues } from '../../http/raw-headers.ts';

/** A store whose mutations can stand for one request each. */
export type RepeatableStore = Pick<TenantStore, keyof OnceStore | 'once'>;

/**
 * The mutations for a request: where it has an `Idempotency-Key`, those that take effect once however often it is sent.
 *
 * @param caller whose key it is: two callers may use the same one
 * @throws ProblemError `invalid_request` where the header cannot be one, or was sent twice
 */
export function mutationsFor(
  request: FastifyRequest,
  caller: RepeatableRequest['caller'],
  tenants: RepeatableStore,
): OnceStore {
  const [key, ...more] = headerValues(request.raw.rawHeaders, 'idempotency-key');
  if (key === undefined) return tenants;
  if (more.length > 0) throw invalidField('Idempotency-Key', 'must be sent once.');
  if (!keyForm.test(key)) throw invalidField('Idempotency-Key', 'must be 1 to 255 visible ASCII characters.');
  return tenants.once({ caller, key: sha256(key), fingerprint: sha256(canonical(request)) });
}

/** Says in the answer that it was made for an earlier request. */
export function noteReplay(reply: FastifyReply, { replayed }: Replay): void {
  if (replayed) reply.header('idempotency-replayed', 'true');
}

const keyForm = /^[!-~]{1,255}$/;

/** What is asked for, however it is spelled: ids in any case, members of the body in any order, spaces or none. */
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
