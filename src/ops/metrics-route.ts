import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';

/** Adds `/metrics`, in Prometheus's text format. */
export function metricsRoute(
  app: FastifyInstance,
  registry: Pick<Registry, 'metrics' | 'contentType'>,
): void {
  app.get('/metrics', async (_request, reply) => {
    const text = await registry.metrics();
    return reply.header('content-type', registry.contentType).send(text);
  });
}
