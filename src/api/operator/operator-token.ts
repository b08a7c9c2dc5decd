import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { InternalConfig } from '../../config.ts';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import type { ClientAddress } from '../../http/trusted-proxies.ts';
import { headerValues } from '../../domain/header-names.ts';
import { noteOutcome } from '../../http/outcome.ts';
import type { Operator, RequestOrigin } from '../../ports/changes.ts';

/** What the operator is called that calls with `ADMIN_TOKEN`. */
const usualOperator = 'operator';

const decorator = 'operator';
const bearer = /^bearer +(\S+)$/i;

/** The tokens of the operator API, by the names of the operators; none where it is off. */
export function operatorTokens({ adminToken, adminTokens }: InternalConfig): ReadonlyMap<string, string> {
  return new Map([
    ...(adminToken === null ? [] : [[usualOperator, adminToken] as const]),
    ...Object.entries(adminTokens),
  ]);
}

/** Whether there is any token: without one the operator API is off. */
export function operatorApiIsOn(config: InternalConfig): boolean {
  return operatorTokens(config).size > 0;
}

/** Lets a request to `app` pass only with one of `tokens` as its bearer token, and notes whose it is. */
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
    // Digests are of one length, and how much of them agrees says nothing about the token. All are compared: how long that
    // takes does not say which one it was.
    const matching = expected.filter((each) => timingSafeEqual(sentDigest, each.digest));
    const [operator] = sent === undefined ? [] : matching;
    if (operator === undefined) return done(new ProblemError(notTheOperator));
    const origin = { requestId: request.id, address: addressOf(request.raw) };
    noteOutcome(request, { operator: operator.name });
    request.setDecorator<Operator | null>(decorator, { operator: operator.name, ...origin });
    done();
  });
}

/** The operator that calls, and from where. @throws where the token was not looked at: a route without that must not work */
export function operatorOf(request: FastifyRequest): Operator & RequestOrigin {
  const operator = request.getDecorator<(Operator & RequestOrigin) | null>(decorator);
  if (operator === null) throw new Error('an operator call was handled before its token was looked at');
  return operator;
}

const notTheOperator: Problem = {
  code: 'unauthenticated',
  detail: 'The operator API wants `Authorization: Bearer <ADMIN_TOKEN>`, once and with the right token.',
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
