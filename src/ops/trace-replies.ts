import type { FastifyInstance } from 'fastify';
import { outcomeOf } from '../http/outcome.ts';
import type { Tracer } from '../ports/tracer.ts';
import { pathOf, statusOf } from './observe.ts';

/**
 * Traces every request that Fastify answers under `app`, when it does. Requests that a plugin took over (`hijack`) are
 * not: that plugin traces them. To be called before plugins are registered: they inherit it.
 *
 * @param nameOf what a route is called, by its template; `undefined` where a request found none
 */
export function traceReplies(
  app: FastifyInstance,
  nameOf: (url: string | undefined) => string,
  tracer: Tracer,
): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    const trace = tracer.begin(request.raw, nameOf(request.routeOptions.url), reply.elapsedTime);
    reply.raw.once('close', () => {
      const { code, caller } = outcomeOf(request);
      trace.end({
        requestId: request.id,
        path: pathOf(request),
        status: statusOf(reply),
        code: code ?? null,
        caller: caller?.accountId ?? null,
        upstreamMs: null,
      });
    });
    done();
  });
}
