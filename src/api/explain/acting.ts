import { Type } from 'typebox';
import { methodKind, readActingHeader, servedMethods } from '../../domain/acting-decision.ts';
import { managementScopes } from '../../domain/scope.ts';
import { found } from '../../http/not-found.ts';
import type { ManagementDeps } from '../deps.ts';
import { decisionFields, decisionToBody, explain } from './explanation.ts';
import { callerOf } from '../guard.ts';
import { closed } from '../rest/typebox.ts';
import type { ManagementApp } from '../operations.ts';

const question = closed({
  method: Type.Optional(Type.Enum([...servedMethods])),
  path: Type.String({
    pattern: '^/',
    maxLength: 8192,
    description: 'a path that starts with /',
    examples: ['/v1/shipments'],
  }),
  acting_tenant: Type.Optional(Type.String({ maxLength: 1024 })),
});

/**
 * `GET /v1/sub-accounts/acting`: explains what the gateway would decide about a request with the calling key. The
 * explanation uses the same functions as real requests. No request is sent, and rate limits and quotas are ignored.
 */
export function actingRoute(app: ManagementApp, deps: ManagementDeps): void {
  app.get(
    '/acting',
    {
      schema: { querystring: question, response: { 200: closed(decisionFields) } },
      config: { scope: managementScopes.read },
    },
    async (request) => {
      const { method = 'GET', path, acting_tenant: acting } = request.query;
      const digest = found(await deps.tenants.keyDigest(callerOf(request).keyId), 'API key');
      const asked = {
        digest,
        acting: readActingHeader(acting === undefined ? [] : [acting]),
        method: methodKind(method) ?? ('write' as const),
      };
      const explained = await explain(deps.destinationOf(method, path), asked, deps);
      return decisionToBody(explained, deps.config.problems.typeBase);
    },
  );
}
