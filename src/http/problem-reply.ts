import type { FastifyReply } from 'fastify';
import { withoutQuery } from '../domain/paths.ts';
import { problemStatus, type Problem } from '../domain/problem.ts';
import type { ClientRequest } from './client-request.ts';
import { noteOutcome } from './outcome.ts';
import { bodyLengthOf } from './unfinished-body.ts';
import { problemBody, problemContentType, problemHeaders, type ProblemForm } from './problem-body.ts';

/** Response header that carries the request id, for logs and support. */
export const requestIdHeader = 'x-request-id';

/** Name of the Fastify decorator that holds the {@link ProblemForm}. */
export const formDecorator = 'problemForm';

/** Responds with a problem (RFC 9457). */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { request, server } = reply;
  const form = server.getDecorator<ProblemForm>(formDecorator);
  const context = { instance: withoutQuery(request.url), requestId: request.id, typeBase: form.typeBase };
  noteOutcome(request, { code: problem.code, limit: problem.limit });
  // There is no point in waiting for a body that has stopped arriving, so the connection is closed.
  const body = { complete: request.raw.complete, bodyLength: bodyLengthOf(request.raw) };
  const ends = bodyMayBeLong(body) || problem.code === 'request_timeout';
  if (ends) reply.header('connection', 'close');
  return (
    reply
      .code(problemStatus(problem.code))
      .headers(problemHeaders(problem, form))
      .header(requestIdHeader, request.id)
      .header('content-type', problemContentType)
      // Sent as bytes: Fastify adds a charset to the content type of a string body, but this media type has no charset.
      .send(Buffer.from(problemBody(problem, context)))
  );
}

const drainBytes = 64 * 1024;

/**
 * Whether much of a rejected request's body may still arrive. If so, closing the connection is cheaper than reading the
 * body.
 */
export function bodyMayBeLong({
  complete,
  bodyLength,
}: Pick<ClientRequest, 'complete' | 'bodyLength'>): boolean {
  return !complete && !(bodyLength !== undefined && bodyLength <= drainBytes);
}
