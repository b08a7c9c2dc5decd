import type { FastifyInstance } from 'fastify';
import { outcomeOf } from '../http/outcome.ts';
import type { Tracer } from '../ports/tracer.ts';
import { withoutQuery } from '../domain/paths.ts';
import { statusOf } from './observe.ts';

/**
 * Traces every request that Fastify answers under `app`, except requests that a plugin took over (`hijack`), which that
 * plugin traces. Call it before plugins are registered, because they inherit the hook.
 *
 * @param nameOf returns the name of a route, from the route's template or from `undefined` if no route matched
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
        path: withoutQuery(request.url),
        status: statusOf(reply),
        code: code ?? null,
        caller: caller?.accountId ?? null,
        upstreamMs: null,
      });
    });
    done();
  });
}
