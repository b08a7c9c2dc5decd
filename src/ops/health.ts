import type { FastifyInstance, FastifyReply } from 'fastify';

/** A reason why this process should not get any requests right now. */
export interface Unreadiness {
  /** Stable code, for programs. */
  readonly reason: 'starting' | 'migrations_pending' | 'lease_lapsed' | 'draining';
  /** Explanation for people. It must not reveal anything that only operators may know. */
  readonly detail: string;
}

/**
 * Adds the health check routes. A 200 response means:
 *
 * - `/livez`: the process is running and does not need a restart.
 * - `/readyz`: the process can make decisions.
 * - `/readyz/listening`: the process has started and is not draining. Without a lease, it still responds to each
 *   request, with 503.
 *
 * Redis does not matter here, because without it the gateway is slower but still correct.
 *
 * @param unready returns the reasons why the process should get no requests; an empty list if it is ready
 */
export function healthRoutes(app: FastifyInstance, unready: () => readonly Unreadiness[]): void {
  app.get('/livez', (_request, reply) => reply.send({ status: 'live' }));
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
    .send(reasons.length === 0 ? { status: 'ready' } : { status: 'unready', reasons });
}
