import type { FastifyInstance } from 'fastify';
import type { PortalConfig } from '../../config.ts';
import { notFound } from '../../http/not-found.ts';
import { clientAddresses } from '../../http/trusted-proxies.ts';
import { CallRates } from '../call-rates.ts';
import { limitCallsInFlight } from '../calls-in-flight.ts';
import type { CountChange } from '../guard.ts';
import type { ManagementDeps } from '../deps.ts';
import { claimPrefix } from '../rest/claim-prefix.ts';
import { installJsonBodies } from '../rest/json-body.ts';
import type { TypeBoxProvider } from '../rest/typebox.ts';
import { portalKeyRoutes } from './keys.ts';
import { changeCallerOf, requireSession, sessionOf, type PortalApp } from './portal-guard.ts';
import { portalReads } from './reads.ts';
import { ownSessionRoutes, redeemRoute } from './session.ts';

export interface PortalApiDeps extends Omit<ManagementDeps, 'destinationOf' | 'onOperations'> {
  readonly portal: PortalConfig;
}

/**
 * Plugin for the portal's API. Register it under a prefix, after `installErrorReplies`. All routes but the one that
 * redeems a link require a session.
 */
export function portalApi(app: FastifyInstance, deps: PortalApiDeps, done: () => void): void {
  const { config } = deps;
  const guard = { ...deps, addressOf: clientAddresses(config.trustedProxies) };
  installJsonBodies(app, config.limits, deps.timers);
  app.register((open, _options, registered) => {
    redeemRoute(open, guard);
    registered();
  });
  app.register((scope, _options, registered) => {
    requireSession(scope, guard);
    limitCallsInFlight(scope, deps.concurrency, 'portal', (request) => {
      const { account, subAccount } = sessionOf(request);
      return { resolvedTenant: subAccount?.id ?? account.id, parentTenant: account.id };
    });
    const countChange = limitRates(scope, new CallRates(config.limits, deps.clock));
    const keyDeps = {
      ...deps,
      enforcedHeader: config.headers.enforced,
      keysPerAccount: config.limits.keysPerAccount,
      keyPrefix: config.keys.prefix,
    };
    const register = (): void => {
      const typed: PortalApp = scope.withTypeProvider<TypeBoxProvider>();
      ownSessionRoutes(typed, deps.portalSessions);
      portalKeyRoutes(typed, keyDeps, countChange);
      portalReads(typed, deps);
    };
    claimPrefix(scope, register, notFound);
    registered();
  });
  done();
}

/** Limits the calls of a parent's sessions like the parent's own management calls. */
function limitRates(app: FastifyInstance, rates: CallRates): CountChange {
  app.addHook('onRequest', (request, _reply, next) => next(rates.admit(request, changeCallerOf(request))));
  app.addHook('preHandler', (request, _reply, next) => {
    rates.countChange(request, changeCallerOf(request));
    next();
  });
  return (request) => rates.countConfirmed(request, changeCallerOf(request));
}
