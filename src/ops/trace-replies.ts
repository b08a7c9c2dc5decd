import type { FastifyInstance } from 'fastify';
import { outcomeOf } from '../http/outcome.ts';
import type { Tracer } from '../ports/tracer.ts';
import { loggedPath } from '../domain/logged-path.ts';
import { statusOf } from './observe.ts';

/**
 * Traces every request that Fastify answers under `app`, except those that a plugin has taken over (`hijack`) and
 * traces itself. Call this before registering plugins, so that they inherit the hook.
 *
 * @param nameOf takes a route's template and returns the name of the route; takes `undefined` if no route matched
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
        path: loggedPath(request.url),
        status: statusOf(reply),
        code: code ?? null,
        caller: caller?.accountId ?? null,
        upstreamMs: null,
      });
    });
    done();
  });
}
