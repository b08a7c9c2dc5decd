import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { headerValues } from '../../domain/header-names.ts';
import type { OperatorSessionStore } from '../../ports/operator-sessions.ts';
import { secretForm, type SessionSecrets } from '../session-secrets.ts';
import { digestOf, type KnownOperator, type OperatorTokens } from './operator-tokens.ts';

/** Milliseconds that a session lasts. */
export const sessionMs = 8 * 3_600_000;
/** Name of the cookie with the session's secret. */
export const sessionCookie = 'tenancy_gateway_session';

const csrfHeader = 'x-csrf-token';
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Session of an operator who signed in. */
export interface OperatorSession {
  readonly operator: KnownOperator;
  /** Value that every call which changes something sends as `X-CSRF-Token`. */
  readonly csrfToken: string;
  readonly expiresAt: Date;
}

export interface OperatorSessionsDeps {
  readonly store: OperatorSessionStore;
  readonly tokens: Pick<OperatorTokens, 'holder'>;
  readonly secrets: Pick<SessionSecrets, 'make' | 'digestOf'>;
}

/**
 * Sessions that operators begin with their token. A browser keeps the secret of its session in a cookie, and the token
 * nowhere. A session ends when the operator signs out, when its token is no longer in force, or after {@link sessionMs}.
 *
 * Methods throw `ProblemError` `unavailable` if the store cannot be reached.
 */
export class OperatorSessions {
  readonly #deps: OperatorSessionsDeps;

  constructor(deps: OperatorSessionsDeps) {
    this.#deps = deps;
  }

  /**
   * Begins a session of the operator with this token, which has been checked.
   *
   * @returns the session, and the secret for the cookie
   */
  async begin(
    operator: KnownOperator,
    token: string,
  ): Promise<{ readonly session: OperatorSession; readonly secret: string }> {
    const { secret, digest } = await this.#deps.secrets.make();
    const stored = { digest, proof: proofOf(secret, digestOf(token)) };
    const expiresAt = await this.#deps.store.begin(stored, sessionMs);
    return { session: { operator, csrfToken: csrfTokenOf(secret), expiresAt }, secret };
  }

  /** Whether a request has the cookie of a session and no token, so that {@link of} reads the store. */
  isSent(request: FastifyRequest): boolean {
    return !hasToken(request) && secretOf(request) !== undefined;
  }

  /**
   * Returns the session of a request for which {@link isSent} holds; `undefined` if there is none in force. A request
   * that may change something also needs the CSRF token.
   */
  async of(request: FastifyRequest): Promise<OperatorSession | undefined> {
    const secret = secretOf(request);
    const session = secret && (await this.#find(secret));
    if (!session) return undefined;
    return safeMethods.has(request.method) || hasCsrfToken(request, session) ? session : undefined;
  }

  async #find(secret: string): Promise<OperatorSession | undefined> {
    const digest = await this.#deps.secrets.digestOf(secret);
    const found = digest && (await this.#deps.store.find(digest));
    if (!found) return undefined;
    const operator = this.#deps.tokens.holder((digest) =>
      timingSafeEqual(found.proof, proofOf(secret, digest)),
    );
    return operator && { operator, csrfToken: csrfTokenOf(secret), expiresAt: found.expiresAt };
  }

  /** Ends the session whose cookie a request has, also beside a token. Does nothing if the request has none. */
  async end(request: FastifyRequest): Promise<void> {
    const secret = secretOf(request);
    if (secret !== undefined) await this.#deps.store.end(digestOf(secret));
  }
}

/** Whether a request has `Authorization`. It then has no session, so that a cookie cannot stand in for a wrong token. */
function hasToken({ raw: { rawHeaders } }: FastifyRequest): boolean {
  return headerValues(rawHeaders, 'authorization').length > 0;
}

/** Returns the secret in the cookie of a request; `undefined` if it has none, or two. */
function secretOf({ raw: { rawHeaders } }: FastifyRequest): string | undefined {
  const start = `${sessionCookie}=`;
  const secrets = headerValues(rawHeaders, 'cookie')
    .flatMap((value) => value.split(';'))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length));
  const [secret = ''] = secrets;
  return secrets.length === 1 && secretForm.test(secret) ? secret : undefined;
}

function hasCsrfToken({ raw: { rawHeaders } }: FastifyRequest, { csrfToken }: OperatorSession): boolean {
  const [sent, ...more] = headerValues(rawHeaders, csrfHeader);
  // Digests have the same length, which `timingSafeEqual` needs.
  return sent !== undefined && more.length === 0 && timingSafeEqual(digestOf(sent), digestOf(csrfToken));
}

function proofOf(secret: string, tokenDigest: Buffer): Buffer {
  return createHmac('sha256', secret).update(tokenDigest).digest();
}

function csrfTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('csrf token').digest('base64url');
}
