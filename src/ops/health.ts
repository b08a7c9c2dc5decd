import type { FastifyInstance, FastifyReply } from 'fastify';

/** A reason why this process should get no requests at this time. */
export interface Unreadiness {
  /** Stable code, for programs. */
  readonly reason: 'starting' | 'migrations_pending' | 'lease_lapsed' | 'draining';
  /** Text for people. It reveals nothing that only operators may know. */
  readonly detail: string;
}

/**
 * Adds the routes for health checks. A response with status 200 means:
 *
 * - `/livez`: the process runs, and a restart would not help.
 * - `/readyz`: the process can decide about requests.
 * - `/readyz/listening`: the process has started and does not drain. Without a lease, the process still responds to
 *   each request, with 503.
 *
 * Redis does not count, because without Redis the gateway is slower but correct.
 *
 * @param unready reasons that keep the process from deciding; empty if it is ready
 */
export function healthRoutes(app: FastifyInstance, unready: () => readonly Unreadiness[]): void {
  app.get('/livez', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'live' }));
  app.get('/readyz', (_request, reply) => respond(reply, unready()));
  app.get('/readyz/listening', (_request, reply) =>
    respond(
      reply,
      unready().filter(({ reason }) => reason !== 'lease_lapsed'),
    ),
  );
}

function respond(reply: FastifyReply, reasons: readonly Unreadiness[]): FastifyReply {
  return reply
    .code(reasons.length === 0 ? 200 : 503)
    .header('cache-control', 'no-store')
    .send(reasons.length === 0 ? { status: 'ready' } : { status: 'unready', reasons });
}
