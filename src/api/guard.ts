import { usedBy } from '../domain/usage.ts';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { credentialReader } from '../authz/authenticate.ts';
import {
  decideManagementCall,
  readManagementCall,
  type ManagementDecision,
} from '../authz/management-call.ts';
import type { ParentCaller } from '../domain/caller.ts';
import { ProblemError } from '../domain/problem.ts';
import { clientAddresses, networkOf } from '../http/trusted-proxies.ts';
import { noteOutcome, outcomeOf } from '../http/outcome.ts';
import { headerValues } from '../domain/header-names.ts';
import { decideWithLookups, type Evaluate } from '../ports/directory.ts';
import { overloaded, shedsStranger } from '../limits/load-shedding.ts';
import type { RequestOrigin } from '../ports/changes.ts';
import type { UsageSink } from '../ports/usage.ts';
import { budgetOf, CallRates } from './call-rates.ts';
import { limitCallsInFlight } from './calls-in-flight.ts';
import type { ManagementDeps } from './deps.ts';
import { operationOf } from './rest/claim-prefix.ts';

const decorator = 'managementCaller';
const againDecorator = 'managementCallAgain';
type DecideAgain = () => Promise<ManagementDecision>;

type GuardDeps = Pick<ManagementDeps, 'config' | 'directory' | 'clock' | 'concurrency' | 'shedding'>;

/** Counts a change against its parent's rate limit. Called only for changes that every replica must confirm. */
export type CountChange = (request: FastifyRequest) => void;

/**
 * Installs the guard, which decides whether to admit each call to `app`. For writes it decides twice: before the body
 * is read and again afterwards.
 *
 * @returns function that counts a change against the rate limit; operations call it for each change that every replica
 * must confirm
 */
export function installGuard(app: FastifyInstance, deps: GuardDeps): CountChange {
  const rates = new CallRates(deps.config.limits, deps.clock);
  const guard = guardHook(deps, rates);
  app.decorateRequest(decorator, null);
  app.decorateRequest(againDecorator, null);
  app.addHook('onRequest', guard);
  limitCallsInFlight(app, deps.concurrency, 'management', (request) => {
    const { accountId, keyId } = callerOf(request);
    return { resolvedTenant: keyId, parentTenant: accountId };
  });
  // A body may take a long time to arrive. If the caller loses access in the meantime, the write must not go ahead.
  app.addHook('preHandler', (request, reply, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next();
    guard.call(app, request, reply, (error?: Error) => {
      if (error === undefined) rates.countChange(request, callerOf(request));
      next(error);
    });
  });
  // Each change that every replica must confirm costs every replica a read and a commit. Most creates need no
  // confirmation. Only an operation knows whether its change needs one, so the operations call this function.
  return (request) => rates.countConfirmed(request, callerOf(request));
}

/**
 * Returns the calling parent and the origin of its request.
 *
 * @throws Error if the guard has not run, so that an unguarded route fails instead of being open
 */
export function callerOf(request: FastifyRequest): ParentCaller & RequestOrigin {
  const caller = request.getDecorator<(ParentCaller & RequestOrigin) | null>(decorator);
  if (caller === null) throw new Error('a management call was handled before it was decided about');
  return caller;
}

/**
 * Decides again whether to allow a call, for use while a long response is being sent.
 *
 * @throws ProblemError if the caller has lost access since the call was admitted
 */
export async function decideAgain(request: FastifyRequest): Promise<void> {
  const again = request.getDecorator<DecideAgain | null>(againDecorator);
  if (again === null) throw new Error('a management call was handled before it was decided about');
  const decision = await again();
  if ('problem' in decision) throw new ProblemError(decision.problem);
}

/**
 * Records a use of the key for each call to `app` that {@link decideManagementCall} permits. Usage reports do not
 * count these calls.
 */
export function noteKeyUse(app: FastifyInstance, usage: Pick<UsageSink, 'touch'>): void {
  app.addHook('onSend', (request, _reply, _payload, done) => {
    const { caller } = outcomeOf(request);
    if (caller !== undefined) usage.touch(usedBy(caller, caller.accountId));
    done();
  });
}

/**
 * Returns the hook that decides whether to admit calls. The hook admits a call under two conditions:
 * {@link decideManagementCall} permits the call, and the parent is below its rate limit for reads or changes. The hook
 * stores the caller on the request. It runs synchronously if all facts are in memory.
 */
function guardHook(
  { config, directory, clock, shedding }: GuardDeps,
  rates: CallRates,
): onRequestHookHandler {
  const { acting, resolvedTenant, apiKey } = config.headers;
  const readCredentials = credentialReader(config.keys.prefix, apiKey, config.authentication.schemes);
  const addressOf = clientAddresses(config.trustedProxies);
  const keyNames = apiKey.map((name) => name.toLowerCase());
  const actingName = acting.toLowerCase();
  const rule = { name: acting, required: config.management.requireActingHeader };
  const budget = budgetOf(config);

  // The guard sheds no call with a known caller.
  const isShed = (request: FastifyRequest): boolean => shedsStranger(shedding, addressOf(request.raw));

  return (request, reply, done) => {
    const { rawHeaders } = request.raw;
    const call = readManagementCall(
      request.method,
      readCredentials({
        authorization: headerValues(rawHeaders, 'authorization'),
        apiKeys: keyNames.flatMap((name) => headerValues(rawHeaders, name)),
      }),
      headerValues(rawHeaders, actingName),
      operationOf(request),
    );
    if ('problem' in call) return done(new ProblemError(isShed(request) ? overloaded : call.problem));
    const evaluate: Evaluate<ManagementDecision> = (facts) =>
      decideManagementCall(facts, call, rule, clock.wallMs());
    const pass = (decision: ManagementDecision): void => {
      if ('problem' in decision) {
        const { problem, caller, keyId } = decision;
        noteOutcome(request, { rejected: { accountId: caller?.accountId ?? null, keyId } });
        return done(new ProblemError(caller === null && isShed(request) ? overloaded : problem));
      }
      const origin = { requestId: request.id, address: addressOf(request.raw), budget };
      request.setDecorator<(ParentCaller & RequestOrigin) | null>(decorator, {
        ...decision.caller,
        ...origin,
      });
      noteOutcome(request, { caller: decision.caller });
      reply.header(resolvedTenant, decision.caller.accountId);
      done(rates.admit(request, decision.caller));
    };
    const lookUp: DecideAgain = () =>
      decideWithLookups(directory, evaluate, networkOf(addressOf(request.raw)));
    request.setDecorator<DecideAgain | null>(
      againDecorator,
      async () => directory.decide(evaluate) ?? (await lookUp()),
    );
    const decision = directory.decide(evaluate);
    if (decision !== undefined) pass(decision);
    else lookUp().then(pass, done);
  };
}
