import type { FastifyInstance, FastifyReply } from 'fastify';
import { loggedPath } from '../domain/logged-path.ts';
import { outcomeOf } from '../http/outcome.ts';
import { clientGone, type RequestObserver } from '../ports/request-record.ts';

/**
 * Calls `observe` for every request that Fastify answers under `app`, except those that a plugin has taken over
 * (`hijack`). Call this before registering plugins, so that they inherit the hook.
 *
 * @param nameOf takes a route's template and returns the name of the route; takes `undefined` if no route matched
 */
export function observeReplies(
  app: FastifyInstance,
  nameOf: (url: string | undefined) => string,
  observe: RequestObserver,
): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.raw.once('close', () => {
      const { code, limit, caller, rejected, operator } = outcomeOf(request);
      observe({
        requestId: request.id,
        method: request.method,
        path: loggedPath(request.url),
        route: nameOf(request.routeOptions.url),
        status: statusOf(reply),
        code: code ?? null,
        limit,
        keyId: caller?.keyId ?? rejected?.keyId ?? null,
        caller: caller?.accountId ?? rejected?.accountId ?? null,
        operator,
        resolvedTenant: caller?.accountId ?? null,
        reason: null,
        durationMs: reply.elapsedTime,
        upstreamMs: null,
        bytesIn: null,
        bytesOut: null,
        head: request.raw,
      });
    });
    done();
  });
}

export function statusOf(reply: FastifyReply): number {
  return reply.raw.writableFinished ? reply.statusCode : clientGone;
}
