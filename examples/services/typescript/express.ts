/** For Express 4 and 5, and whatever else takes its middleware: `app.use(requireTenant())`, and `tenantOf(request)` in handlers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  exemption,
  NotFromGateway,
  pathOf,
  rejection,
  tenantReader,
  type Tenant,
  type TenantOptions,
} from './tenant.ts';

/** A request; Express adds the path that its middleware is mounted at, and takes that from `url`. */
interface Request extends IncomingMessage {
  readonly baseUrl?: string;
}

const tenants = new WeakMap<IncomingMessage, Tenant>();

/** Rejects requests that the gateway has not passed on. */
export function requireTenant(options?: TenantOptions) {
  const [read, isExempt] = [tenantReader(options), exemption(options)];
  return (request: Request, response: ServerResponse, next: () => void): void => {
    if (isExempt(request, (request.baseUrl ?? '') + pathOf(request.url))) return void next();
    try {
      tenants.set(request, read(request));
    } catch (error) {
      if (!(error instanceof NotFromGateway)) throw error;
      const { status, type, body } = rejection(error);
      response.writeHead(status, { 'content-type': type }).end(body);
      return;
    }
    next();
  };
}

/** For whom a request is. */
export function tenantOf(request: IncomingMessage): Tenant {
  const tenant = tenants.get(request);
  if (tenant === undefined) throw new Error('requireTenant was not used for this route, or exempts it');
  return tenant;
}
