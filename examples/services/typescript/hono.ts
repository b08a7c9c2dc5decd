/** For Hono 4 on Node.js (`@hono/node-server`): `app.use(requireTenant())`, and `tenantOf(c)` in handlers. */
import type { IncomingMessage } from 'node:http';
import {
  exemption,
  NotFromGateway,
  pathOf,
  rejection,
  reservedNames,
  tenantReader,
  type Tenant,
  type TenantOptions,
} from './tenant.ts';

/** What this needs of Hono's context; `env` is what `@hono/node-server` puts there. */
interface Context {
  readonly env: unknown;
  readonly req: { readonly path: string; readonly raw: { readonly headers: Headers } };
}

const tenants = new WeakMap<IncomingMessage, Tenant>();

/** Rejects requests that the gateway has not passed on. */
export function requireTenant(options?: TenantOptions) {
  const [read, isExempt] = [tenantReader(options), exemption(options)];
  const isReserved = reservedNames(options?.prefix);
  return async (c: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    if (pathOf(incoming(c).url) === c.req.path && isExempt(incoming(c), c.req.path)) {
      for (const name of [...c.req.raw.headers.keys()].filter(isReserved)) c.req.raw.headers.delete(name);
      await next();
      return undefined;
    }
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
  if (tenant === undefined) throw new Error('requireTenant was not used for this route, or exempts it');
  return tenant;
}

function incoming({ env }: Context): IncomingMessage {
  return (env as { readonly incoming: IncomingMessage }).incoming;
}
