import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ProblemError } from '../domain/problem.ts';
import { tooManyInFlight, type TenantConcurrency } from '../limits/concurrency.ts';
import type { Tenancy } from '../limits/shares.ts';

/**
 * Gives each call to `app` a place in flight until its response has been sent, or rejects it. What ends access takes no
 * place, so that a leaked key cannot keep its own revocation out.
 *
 * @param holderOf returns who holds the place
 */
export function limitCallsInFlight(
  app: FastifyInstance,
  concurrency: Pick<TenantConcurrency, 'enterCall'>,
  to: 'management' | 'portal',
  holderOf: (request: FastifyRequest) => Tenancy,
): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.action) return done();
    // The client left during the look-up, and `close` does not come again.
    if (reply.raw.destroyed) return;
    const leave = concurrency.enterCall(to, holderOf(request));
    if (leave !== null) reply.raw.once('close', leave);
    done(leave === null ? new ProblemError(tooManyInFlight) : undefined);
  });
}
