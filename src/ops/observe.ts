import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { methodKind } from '../domain/method.ts';
import { outcomeOf } from '../http/outcome.ts';
import type { UsageSink } from '../ports/usage.ts';
import type { RequestObserver } from './request-record.ts';

/**
 * Tells `observe` of every request that Fastify answers under `app`. Requests that a plugin took over (`hijack`) never
 * come by here, and cost nothing. To be called before plugins are registered: they inherit it.
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
      const { code, caller } = outcomeOf(request);
      observe({
        requestId: request.id,
        method: request.method,
        path: pathOf(request),
        route: nameOf(request.routeOptions.url),
        status: statusOf(reply),
        code: code ?? null,
        keyId: caller?.keyId ?? null,
        resolvedTenant: caller?.accountId ?? null,
        reason: null,
        durationMs: reply.elapsedTime,
        upstreamMs: null,
      });
    });
    done();
  });
}

/** Counts the calls of known callers under `app`: management is usage too. */
export function meterReplies(app: FastifyInstance, usage: UsageSink): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.raw.once('close', () => {
      const { caller } = outcomeOf(request);
      const kind = methodKind(request.method);
      if (caller === undefined || kind === undefined) return;
      usage.record({
        accountId: caller.accountId,
        keyId: caller.keyId,
        kind,
        status: statusOf(reply),
        bytesIn: lengthOf(request.headers['content-length']),
        bytesOut: lengthOf(reply.getHeader('content-length')),
      });
    });
    done();
  });
}

/** By convention of nginx 499: the client left before it was answered. */
function statusOf(reply: FastifyReply): number {
  return reply.raw.writableFinished ? reply.statusCode : 499;
}

function lengthOf(contentLength: unknown): number {
  const length = Number(contentLength ?? 0);
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}

function pathOf({ url }: FastifyRequest): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
