import { createHash, timingSafeEqual } from 'node:crypto';
import type { onRequestHookHandler } from 'fastify';
import { ProblemError, type Problem } from '../../domain/problem.ts';
import { headerValues } from '../../http/raw-headers.ts';

const bearer = /^bearer +(\S+)$/i;

/** A hook that lets a request pass only with `token` as its bearer token. */
export function requireOperator(token: string): onRequestHookHandler {
  const expected = digest(token);
  return (request, _reply, done) => {
    const values = headerValues(request.raw.rawHeaders, 'authorization');
    const sent = values.length === 1 ? bearer.exec(values[0] ?? '')?.[1] : undefined;
    // Digests are of one length, and how much of them agrees says nothing about the token.
    done(
      sent !== undefined && timingSafeEqual(digest(sent), expected)
        ? undefined
        : new ProblemError(notTheOperator),
    );
  };
}

const notTheOperator: Problem = {
  code: 'unauthenticated',
  detail: 'The operator API wants `Authorization: Bearer <ADMIN_TOKEN>`, once and with the right token.',
};

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
