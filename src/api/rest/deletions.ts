import type { FastifyReply } from 'fastify';
import { noSuch } from '../../domain/no-such.ts';
import { ProblemError } from '../../domain/problem.ts';
import { found } from '../../http/not-found.ts';
import type { Committed, Deleted } from '../../ports/tenant-store.ts';

/** What the account has to be before it can be deleted, for the `detail` of a 409. */
const firsts = {
  account: 'Suspend the account first: POST …/suspend.',
  'sub-account': 'Deactivate the sub-account first: POST …/deactivate.',
} as const;

/**
 * Sends the 204 of a deletion once every replica enforces it.
 *
 * An account that was deleted earlier gets a 404, but only after the same wait: a client that repeats a deletion after a
 * 503 can rely on the 404 as it could on the 204.
 *
 * @param header name of the receipt header, which a 404 does not have
 * @param enforce waits until every replica enforces the deletion, and adds the receipt
 * @throws ProblemError `still_active` or `not_found`
 */
export async function sendDeleted(
  deleted: Deleted | null,
  kind: keyof typeof firsts,
  reply: FastifyReply,
  header: string,
  enforce: (committed: Committed<null>) => Promise<null>,
): Promise<null> {
  const outcome = found(deleted, kind);
  if (outcome === 'still-active') throw new ProblemError({ code: 'still_active', detail: firsts[kind] });
  await enforce(outcome);
  if (outcome.alreadyGone) {
    reply.removeHeader(header);
    throw new ProblemError(noSuch(kind));
  }
  reply.code(204);
  return null;
}
