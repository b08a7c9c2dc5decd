/** For Fastify 5: call `requireTenant(app)` before you add routes, and `tenantOf(request)` in them. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  exemption,
  NotFromGateway,
  pathOf,
  rejection,
  tenantReader,
  type Tenant,
  type TenantOptions,
} from './tenant.ts';

const decorator = 'tenantOfGateway';

/** Rejects requests that the gateway has not passed on. */
export function requireTenant(app: FastifyInstance, options?: TenantOptions): void {
  const [read, isExempt] = [tenantReader(options), exemption(options)];
  app.decorateRequest(decorator, null);
  app.addHook('onRequest', (request, reply, done) => {
    if (isExempt(request.raw, pathOf(request.raw.url))) return void done();
    try {
      request.setDecorator<Tenant | null>(decorator, read(request.raw));
    } catch (error) {
      if (!(error instanceof NotFromGateway)) throw error;
      const { status, type, body } = rejection(error);
      // As bytes: Fastify adds a charset to text, and this media type has none.
      void reply.code(status).header('content-type', type).send(Buffer.from(body));
      return;
    }
    done();
  });
}

/** For whom a request is. */
export function tenantOf(request: FastifyRequest): Tenant {
  const tenant = request.getDecorator<Tenant | null>(decorator);
  if (tenant === null) throw new Error('requireTenant was not called for this route, or exempts it');
  return tenant;
}
