import { Type, type Static } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { operatorRoles } from '../../domain/operator-role.ts';
import { ProblemError } from '../../domain/problem.ts';
import { closed, noQuery, timestamp } from '../rest/typebox.ts';
import { operatorOf, tokenOf, type OperatorApp } from './operator-token.ts';
import {
  sessionCookie,
  sessionMs,
  type OperatorSession,
  type OperatorSessions,
} from './operator-sessions.ts';

export interface SessionDeps {
  readonly operatorSessions: Pick<OperatorSessions, 'begin' | 'end'>;
}

const body = closed({
  operator: Type.String(),
  role: Type.Enum([...operatorRoles]),
  csrf_token: Type.String(),
  expires_at: timestamp,
});

const path = '/session';

/** Adds the routes with which a browser signs in by a token, and signs out. */
export function sessionRoutes(app: OperatorApp, { operatorSessions }: SessionDeps): void {
  app.post(
    path,
    {
      schema: { querystring: noQuery, response: { 200: body } },
      config: { role: 'viewer', action: true },
    },
    async (request, reply) => {
      const token = tokenOf(request);
      // A session cannot prolong itself.
      if (token === undefined) throw new ProblemError(needsToken);
      const { operator, role } = operatorOf(request);
      await operatorSessions.end(request);
      const { session, secret } = await operatorSessions.begin({ operator, role }, token);
      setCookie(request, reply, secret, sessionMs / 1_000);
      return toBody(session);
    },
  );
  app.delete(
    path,
    { schema: { querystring: noQuery, response: { 204: Type.Null() } }, config: { role: 'viewer' } },
    async (request, reply) => {
      await operatorSessions.end(request);
      setCookie(request, reply, '', 0);
      reply.code(204);
      return null;
    },
  );
}

/**
 * Sets the session's cookie. Without `Path` it is for paths of the operator API alone, also behind a proxy that adds a
 * prefix (RFC 6265 §5.1.4): browsers send cookies to every port of a host, also to services behind the public listener. It is `Secure` if the browser came by HTTPS, as a proxy before the listener says.
 * Anybody may say so, because it only keeps the cookie from plain HTTP.
 */
function setCookie(request: FastifyRequest, reply: FastifyReply, secret: string, seconds: number): void {
  const secure = /\bhttps\b/i.test(String(request.headers['x-forwarded-proto'])) ? '; Secure' : '';
  reply.header(
    'set-cookie',
    `${sessionCookie}=${secret}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
  );
}

function toBody({
  operator: { operator, role },
  csrfToken,
  expiresAt,
}: OperatorSession): Static<typeof body> {
  return { operator, role, csrf_token: csrfToken, expires_at: expiresAt.toISOString() };
}

const needsToken = {
  code: 'unauthenticated',
  detail: 'A session begins with `Authorization: Bearer <token of an operator>`, not with another session.',
} as const;
