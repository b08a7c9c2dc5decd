import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { InternalConfig } from '../../config.ts';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import type { ClientAddress } from '../../http/trusted-proxies.ts';
import { headerValues } from '../../domain/header-names.ts';
import { noteOutcome } from '../../http/outcome.ts';
import type { Operator, RequestOrigin } from '../../ports/changes.ts';

/** Name of the operator who uses `ADMIN_TOKEN`. */
const usualOperator = 'operator';

const decorator = 'operator';
const bearer = /^bearer +(\S+)$/i;

/** Returns the tokens of the operator API, keyed by operator name; empty if the API is off. */
export function operatorTokens({ adminToken, adminTokens }: InternalConfig): ReadonlyMap<string, string> {
  return new Map([
    ...(adminToken === null ? [] : [[usualOperator, adminToken] as const]),
    ...Object.entries(adminTokens),
  ]);
}

/** Whether the operator API is on. It is off if no token is set. */
export function operatorApiIsOn(config: InternalConfig): boolean {
  return operatorTokens(config).size > 0;
}

/** Rejects requests to `app` whose bearer token is not in `tokens`. An accepted request is marked with its operator. */
export function requireOperator(
  app: FastifyInstance,
  tokens: ReadonlyMap<string, string>,
  addressOf: ClientAddress,
): void {
  const expected = [...tokens].map(([name, token]) => ({ name, digest: digest(token) }));
  app.decorateRequest(decorator, null);
  app.addHook('onRequest', (request, _reply, done) => {
    const values = headerValues(request.raw.rawHeaders, 'authorization');
    const sent = values.length === 1 ? bearer.exec(values[0] ?? '')?.[1] : undefined;
    const sentDigest = digest(sent ?? '');
    // Digests are compared instead of tokens, because `timingSafeEqual` needs equal lengths. The sent digest is
    // compared with every expected digest, so timing does not reveal which digest matched.
    const matching = expected.filter((each) => timingSafeEqual(sentDigest, each.digest));
    const [operator] = sent === undefined ? [] : matching;
    if (operator === undefined) return done(new ProblemError(notTheOperator));
    const origin = { requestId: request.id, address: addressOf(request.raw) };
    noteOutcome(request, { operator: operator.name });
    request.setDecorator<Operator | null>(decorator, { operator: operator.name, ...origin });
    done();
  });
}

/**
 * Returns the calling operator and the origin of its request.
 *
 * @throws Error if the token has not been checked, so that an unprotected route fails instead of being open
 */
export function operatorOf(request: FastifyRequest): Operator & RequestOrigin {
  const operator = request.getDecorator<(Operator & RequestOrigin) | null>(decorator);
  if (operator === null) throw new Error('an operator call was handled before its token was looked at');
  return operator;
}

const notTheOperator: Problem = {
  code: 'unauthenticated',
  detail: 'The operator API needs `Authorization: Bearer <ADMIN_TOKEN>`, once and with a valid token.',
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
