/** For Hono 4 on Node.js (`@hono/node-server`): `app.use(requireTenant())`, and `tenantOf(c)` in handlers. */
import type { IncomingMessage } from 'node:http';
import { NotFromGateway, rejection, tenantReader, type Tenant, type TenantOptions } from './tenant.ts';

/** What this needs of Hono's context; `env` is what `@hono/node-server` puts there. */
interface Context {
  readonly env: unknown;
}

const tenants = new WeakMap<IncomingMessage, Tenant>();

/** Rejects requests that the gateway has not passed on. */
export function requireTenant(options?: TenantOptions) {
  const read = tenantReader(options);
  return async (c: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    try {
      tenants.set(incoming(c), read(incoming(c)));
    } catch (error) {
      if (!(error instanceof NotFromGateway)) throw error;
      const { status, type, body } = rejection(error);
      return new Response(body, { status, headers: { 'content-type': type } });
    }
    await next();
    return undefined;
  };
}

/** For whom a request is. */
export function tenantOf(c: Context): Tenant {
  const tenant = tenants.get(incoming(c));
  if (tenant === undefined) throw new Error('requireTenant was not used for this route');
  return tenant;
}

function incoming({ env }: Context): IncomingMessage {
  return (env as { readonly incoming: IncomingMessage }).incoming;
}
