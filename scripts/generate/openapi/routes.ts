import Fastify from 'fastify';
import { management } from '../../../src/api/management.ts';
import { admin } from '../../../src/api/operator/admin.ts';
import { ownRoutes } from '../../../src/api/operator/own-routes.ts';
import type { OperatorApp } from '../../../src/api/operator/operator-token.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { managementPath, operatorPath } from '../../../src/domain/paths.ts';
import { installErrorReplies } from '../../../src/http/errors.ts';
import { fastifyOptions } from '../../../src/http/fastify-options.ts';
import type { Api, Json } from './types.ts';

/** What a route says of itself. */
export interface CollectedRoute {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly scope: string | undefined;
  /** Minimum role of an operator. */
  readonly role: string | undefined;
  readonly schema: {
    readonly params?: Json;
    readonly querystring?: Json;
    readonly body?: Json;
    readonly response?: Readonly<Record<string, Json>>;
  };
}

/** The routes of an API as the gateway registers them, without those that reject; HEAD goes with GET. */
export async function routesOf({ callers, ownerId }: Api): Promise<readonly CollectedRoute[]> {
  const loaded = loadConfig({ ADMIN_TOKEN: 'turns-the-operator-api-on-to-look-at-it' });
  if ('faults' in loaded) throw new Error(`the usual configuration has faults: ${JSON.stringify(loaded)}`);
  const { config } = loaded;
  const app = Fastify(fastifyOptions(config.limits));
  const routes: CollectedRoute[] = [];
  app.addHook('onRoute', ({ method, url, schema = {}, config }) => {
    for (const one of [method].flat())
      if (one !== 'HEAD' && (config?.scope ?? config?.role) !== undefined)
        routes.push({
          method: one,
          path: url.replace(/:(\w+)/g, (_all, name: string) => `{${name === 'owner_id' ? ownerId : name}}`),
          scope: config?.scope,
          role: config?.role,
          // What is not JSON in them is TypeBox's own.
          schema: JSON.parse(JSON.stringify(schema)) as CollectedRoute['schema'],
        });
  });
  installErrorReplies(app);
  // Handlers are never called, so what they work with is not there.
  const deps = { config } as never;
  if (callers === 'parents')
    app.register(management, { ...(deps as object), prefix: managementPath } as never);
  else {
    const more = (operator: OperatorApp): void => ownRoutes(operator, deps);
    app.register(admin, { ...(deps as object), more, prefix: operatorPath } as never);
  }
  await app.ready();
  await app.close();
  return routes;
}
