import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Barrier, Receipt } from '../../ports/barrier.ts';
import type { Committed } from '../../ports/tenant-store.ts';

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
