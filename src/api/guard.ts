import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import {
  decideManagementCall,
  readManagementCall,
  type ManagementDecision,
} from '../authz/management-call.ts';
import type { ParentCaller } from '../domain/caller.ts';
import { ProblemError } from '../domain/problem.ts';
import { noteOutcome, outcomeOf } from '../http/outcome.ts';
import { headerValues } from '../http/raw-headers.ts';
import { decideWithLookups, type Evaluate } from '../ports/directory.ts';
import type { UsageSink } from '../ports/usage.ts';
import type { ManagementDeps } from './deps.ts';

const decorator = 'managementCaller';

/** Puts the guard before every operation of `app`; a write is decided about before its body, and again after it. */
export function installGuard(
  app: FastifyInstance,
  deps: Pick<ManagementDeps, 'config' | 'directory' | 'clock'>,
): void {
  const guard = guardHook(deps);
  app.decorateRequest(decorator, null);
  app.addHook('onRequest', guard);
  // A body may take its time. A caller that lost the right to a write while sending it must not have it any more.
  app.addHook('preHandler', (request, reply, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') next();
    else guard.call(app, request, reply, next);
  });
}

/** The parent that calls. @throws where the call was not decided about: a route without the guard must not work */
export function callerOf(request: FastifyRequest): ParentCaller {
  const caller = request.getDecorator<ParentCaller | null>(decorator);
  if (caller === null) throw new Error('a management call was handled before it was decided about');
  return caller;
}

/**
 * Notes that the keys of known callers under `app` were used. A call to management is not counted as usage, which is
 * what a parent asks of the API behind the gateway; but a key that only manages is in use all the same.
 */
export function noteKeyUse(app: FastifyInstance, usage: Pick<UsageSink, 'touch'>): void {
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const { caller } = outcomeOf(request);
    if (caller !== undefined) usage.touch(caller.accountId, caller.keyId);
    done();
  });
}

/** Lets a call pass when {@link decideManagementCall} does, and notes the caller. Synchronous where every fact is in memory. */
function guardHook({
  config,
  directory,
  clock,
}: Pick<ManagementDeps, 'config' | 'directory' | 'clock'>): onRequestHookHandler {
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
      request.setDecorator<ParentCaller | null>(decorator, decision.caller);
      noteOutcome(request, { caller: decision.caller });
      reply.header(resolvedTenant, decision.caller.accountId);
      done();
    };
    const decision = directory.decide(evaluate);
    if (decision !== undefined) pass(decision);
    else decideWithLookups(directory, evaluate).then(pass, done);
  };
}
