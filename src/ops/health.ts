import type { FastifyInstance } from 'fastify';

/** Why this process should get no requests right now. */
export interface Unreadiness {
  /** Stable, for programs. */
  readonly reason: 'starting' | 'migrations_pending' | 'lease_lapsed' | 'draining';
  /** For people; nothing that only an operator may know. */
  readonly detail: string;
}

/**
 * `/livez`: the process runs, restarting it would not help. `/readyz`: it can decide about requests. Redis is not
 * asked: without it the gateway is slower, and right.
 *
 * @param unready everything that keeps it from deciding; empty when it is ready
 */
export function healthRoutes(app: FastifyInstance, unready: () => readonly Unreadiness[]): void {
  app.get('/livez', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'live' }));
  app.get('/readyz', (_request, reply) => {
    const reasons = unready();
    return reply
      .code(reasons.length === 0 ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(reasons.length === 0 ? { status: 'ready' } : { status: 'unready', reasons });
  });
}
