import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { withoutQuery } from '../domain/paths.ts';
import { problemStatus, type Problem } from '../domain/problem.ts';
import type { ClientRequest } from './client-request.ts';
import { noteOutcome } from './outcome.ts';
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
  const ends = bodyMayBeLong(bodyOf(request.raw)) || problem.code === 'request_timeout';
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

/** Returns what {@link bodyMayBeLong} needs of a request that Node has read. */
function bodyOf({ complete, headers }: IncomingMessage): Pick<ClientRequest, 'complete' | 'bodyLength'> {
  const isChunked = headers['transfer-encoding'] !== undefined;
  return { complete, bodyLength: isChunked ? undefined : Number(headers['content-length'] ?? 0) };
}
