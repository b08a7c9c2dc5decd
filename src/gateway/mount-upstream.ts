import { fastifyHttpProxy } from '@fastify/http-proxy';
import type { FastifyInstance } from 'fastify';
import type { Upstream } from '../proxy/upstream/upstream.ts';

/**
 * Mounts an upstream with @fastify/http-proxy at `path`: the methods that are forwarded become Fastify's routes.
 * Whatever has no hook before them that takes it over is refused: nothing is forwarded without a decision.
 */
export async function mountUpstream(scope: FastifyInstance, upstream: Upstream, path: string): Promise<void> {
  await scope.register(fastifyHttpProxy, {
    prefix: path,
    routes: ['/'],
    upstream: upstream.origin.origin,
    proxyPayloads: false,
    disableRequestLogging: true,
    preHandler: (_request, _reply, done) =>
      done(new Error('a request that was not admitted came to the proxy')),
  });
}
