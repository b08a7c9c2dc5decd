import type { FastifyInstance, FastifyRequest } from 'fastify';
import { headerValues } from '../../domain/header-names.ts';
import { hasRole, insufficientRole, type OperatorRole } from '../../domain/operator-role.ts';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { noteOutcome } from '../../http/outcome.ts';
import { networkOf, type ClientAddress } from '../../http/trusted-proxies.ts';
import type { Operator, RequestOrigin } from '../../ports/changes.ts';
import { operationOf } from '../rest/claim-prefix.ts';
import type { RoutesWith } from '../rest/typebox.ts';
import type { OperatorSession, OperatorSessions } from './operator-sessions.ts';
import type { KnownOperator, OperatorTokens } from './operator-tokens.ts';
import type { TokenGuesses } from './token-guesses.ts';

declare module 'fastify' {
  /** Members of a route's `config` that {@link requireOperator} reads. */
  interface FastifyContextConfig {
    /** Minimum role of the operator. */
    readonly role?: OperatorRole;
  }
}

/**
 * Minimum role that a route of the operator API requires. `action` marks a route that takes no body; `mostItems` is the
 * maximum number of members and elements of its body.
 */
export interface RoleAccess {
  readonly role: OperatorRole;
  readonly action?: true;
  readonly mostItems?: number;
}

/**
 * App for the operator API. Every route must declare its minimum role, otherwise the route does not compile. A route
 * without a role would be open to every operator, or to none.
 */
export type OperatorApp = RoutesWith<RoleAccess>;

/** What {@link requireOperator} needs. */
export interface OperatorAccess {
  readonly tokens: Pick<OperatorTokens, 'find'>;
  readonly sessions: Pick<OperatorSessions, 'isSent' | 'of'>;
  readonly guesses: Pick<TokenGuesses, 'pace' | 'note'>;
  readonly addressOf: ClientAddress;
}

const decorator = 'operator';
const sessionDecorator = 'operatorSession';
const bearer = /^bearer +(\S+)$/i;

type CallingOperator = Operator & RequestOrigin & Pick<KnownOperator, 'role'>;

/**
 * Rejects requests to `app` without an operator's token or session, and requests of operators whose role is lower than
 * the one of the route. An accepted request is marked with its operator.
 */
export function requireOperator(
  app: FastifyInstance,
  { tokens, sessions, guesses, addressOf }: OperatorAccess,
): void {
  app.decorateRequest(decorator, null);
  app.decorateRequest(sessionDecorator, null);
  app.addHook('onRequest', async (request) => {
    const address = addressOf(request.raw);
    const network = networkOf(address);
    const sent = tokenOf(request);
    // A request without credentials is no guess, so it neither waits nor counts.
    if (sent === undefined && !sessions.isSent(request)) throw new ProblemError(notTheOperator);
    await new Promise<void>((resolve) => guesses.pace(network, resolve));
    const session = sent === undefined ? await sessions.of(request) : undefined;
    const known = sent === undefined ? session?.operator : tokens.find(sent);
    if (known === undefined) {
      guesses.note(network);
      throw new ProblemError(notTheOperator);
    }
    noteOutcome(request, { operator: known.operator });
    const operator: CallingOperator = { ...known, requestId: request.id, address };
    request.setDecorator<CallingOperator | null>(decorator, operator);
    request.setDecorator<OperatorSession | null>(sessionDecorator, session ?? null);
    const problem = roleProblem(request, known);
    if (problem !== undefined) throw problem;
  });
  // A body may take a long time to arrive. If the token is replaced or the session ends in the meantime, the write must
  // not go ahead.
  app.addHook('preHandler', async (request) => {
    const problem = await problemOfCaller({ tokens, sessions }, request);
    if (problem !== undefined) throw problem;
  });
}

/**
 * Returns the problem if the token or session of a request is no longer in force, or does not have the role of the
 * route any more. Throws `ProblemError` `unavailable` if the store cannot be reached.
 */
export async function problemOfCaller(
  { tokens, sessions }: Pick<OperatorAccess, 'tokens' | 'sessions'>,
  request: FastifyRequest,
): Promise<Error | undefined> {
  const sent = tokenOf(request);
  const known = sent === undefined ? (await sessions.of(request))?.operator : tokens.find(sent);
  return known === undefined ? new ProblemError(notTheOperator) : roleProblem(request, known);
}

/** Returns the token that a request carries; `undefined` if it carries none, or more than one `Authorization`. */
export function tokenOf(request: FastifyRequest): string | undefined {
  const values = headerValues(request.raw.rawHeaders, 'authorization');
  return values.length === 1 ? bearer.exec(values[0] ?? '')?.[1] : undefined;
}

/** Returns the problem if `known` may not call the route of `request`. A rejected path has no role. */
function roleProblem(request: FastifyRequest, { role }: KnownOperator): Error | undefined {
  const { role: needed } = request.routeOptions.config;
  if (operationOf(request).rejection !== undefined) return undefined;
  if (needed === undefined) return new Error('an operation of the operator API has no role');
  return hasRole(role, needed) ? undefined : new ProblemError(insufficientRole(needed));
}

/**
 * Returns the calling operator and the origin of its request.
 *
 * @throws Error if the token has not been checked, so that an unprotected route fails instead of being open
 */
export function operatorOf(request: FastifyRequest): CallingOperator {
  const operator = request.getDecorator<CallingOperator | null>(decorator);
  if (operator === null) throw new Error('an operator call was handled before its token was looked at');
  return operator;
}

/** Returns the session that a request was made with; `null` if it was made with a token. */
export function sessionOf(request: FastifyRequest): OperatorSession | null {
  return request.getDecorator<OperatorSession | null>(sessionDecorator);
}

const notTheOperator: Problem = {
  code: 'unauthenticated',
  detail:
    'The operator API needs `Authorization: Bearer <token of an operator>`, once and with a valid token, or a session with its `X-CSRF-Token`.',
};
