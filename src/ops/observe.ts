import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { outcomeOf } from '../http/outcome.ts';
import { clientGone, type RequestObserver } from '../ports/request-record.ts';

/**
 * Tells `observe` of every request that Fastify answers under `app`. Requests that a plugin took over (`hijack`) are
 * not told of, and cost nothing. To be called before plugins are registered: they inherit it.
 *
 * @param nameOf what a route is called, by its template; `undefined` where a request found none
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
        path: pathOf(request),
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

/** As it was called, without its query: a query may hold a secret. */
export function pathOf({ url }: FastifyRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
