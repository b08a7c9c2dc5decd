import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { parseAccountId } from '../domain/ids.ts';
import { ProblemError } from '../domain/problem.ts';
import { grantableToSubAccount, managementScopes } from '../domain/scope.ts';
import { apiKeyRoutes } from './api-keys/routes.ts';
import { claimPrefix } from './rest/claim-prefix.ts';
import { installJsonBodies } from './rest/json-body.ts';
import type { TypeBoxProvider } from './rest/typebox.ts';
import { installValidation } from './rest/validation.ts';
import { collectOperations } from './operations.ts';
import { callerOf, decorateCaller, setCaller } from './caller.ts';
import {
  decideManagementCall,
  readManagementCall,
  type ManagementDecision,
} from '../authz/management-call.ts';
import { headerValues } from '../http/raw-headers.ts';
import { decideWithLookups, type Evaluate } from '../ports/directory.ts';
import { subAccountRoutes } from './sub-accounts/routes.ts';
import { usageReportRoute } from './usage/report.ts';
import type { ManagementDeps } from './deps.ts';

/**
 * The management endpoints (spec section 4), to be registered at the prefix `/v1/sub-accounts` on an app that has
 * `installErrorReplies`. Nothing under the prefix gets past this plugin, whatever its method.
 */
export function management(app: FastifyInstance, deps: ManagementDeps, done: () => void): void {
  const { config, tenants } = deps;
  const guard = guardHook(deps);
  deps.onOperations?.(collectOperations(app, app.prefix));
  decorateCaller(app);
  app.addHook('onRequest', guard);
  installJsonBodies(app, config.limits.managementBodyBytes);
  installValidation(app);
  // A body may take its time. A caller that lost the right to a write while sending it must not have it any more.
  app.addHook('preHandler', (request, reply, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') next();
    else guard.call(app, request, reply, next);
  });

  claimPrefix(app, () => {
    const typed = app.withTypeProvider<TypeBoxProvider>();
    subAccountRoutes(typed, deps);
    usageReportRoute(typed, deps);
    apiKeyRoutes(
      typed,
      { ...deps, enforcedHeader: config.headers.enforced, keysPerAccount: config.limits.keysPerAccount },
      {
        path: '/:owner_id/api-keys',
        ownerField: 'sub_account_id',
        owner: async (request, text) => {
          const id = parseAccountId(text);
          const account = id && (await tenants.getSubAccount(callerOf(request).accountId, id));
          return account?.id ?? null;
        },
        caller: (request) => callerOf(request).keyId,
        grantable: grantableToSubAccount,
        read: { scope: managementScopes.read },
        write: { scope: managementScopes.write },
      },
    );
  });
  done();
}

/** Lets a call pass when {@link decideManagementCall} does, and notes the caller. Synchronous where every fact is in memory. */
function guardHook({ config, directory, clock }: ManagementDeps): onRequestHookHandler {
  const { acting, resolvedTenant } = config.headers;
  const actingName = acting.toLowerCase();
  const rule = { name: acting, required: config.management.requireActingHeader };

  return (request, reply, done) => {
    const { rawHeaders } = request.raw;
    const call = readManagementCall(
      request.method,
      headerValues(rawHeaders, 'authorization'),
      headerValues(rawHeaders, actingName),
      request.routeOptions.config,
    );
    if ('problem' in call) return done(new ProblemError(call.problem));
    const evaluate: Evaluate<ManagementDecision> = (facts) =>
      decideManagementCall(facts, call, rule, clock.wallMs());
    const pass = (decision: ManagementDecision): void => {
      if ('problem' in decision) return done(new ProblemError(decision.problem));
      setCaller(request, decision.caller);
      reply.header(resolvedTenant, decision.caller.accountId);
      done();
    };
    const decision = directory.decide(evaluate);
    if (decision !== undefined) pass(decision);
    else decideWithLookups(directory, evaluate).then(pass, done);
  };
}
