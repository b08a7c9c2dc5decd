import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { problemStatus, type Problem } from '../domain/problem.ts';
import { noteOutcome } from './outcome.ts';
import { problemBody, problemContentType, problemHeaders } from './problem-body.ts';

/** The response header that names the request in logs and in talks with support. */
export const requestIdHeader = 'x-request-id';

/** Under which an app says what the `type` of its problems begins with. */
export const typeBaseDecorator = 'problemTypeBase';

/** Responds with a problem (RFC 9457). */
export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  const { request, server } = reply;
  const typeBase = server.getDecorator<string>(typeBaseDecorator);
  const context = { instance: pathOf(request.url), requestId: request.id, typeBase };
  noteOutcome(request, { code: problem.code, limit: problem.limit });
  if (bodyMayBeLong(request.raw)) reply.header('connection', 'close');
  return (
    reply
      .code(problemStatus(problem.code))
      .headers(problemHeaders(problem))
      .header(requestIdHeader, request.id)
      .header('content-type', problemContentType)
      // As bytes, because Fastify adds a charset to the content type of text, and this media type has none.
      .send(Buffer.from(problemBody(problem, context)))
  );
}

/** The request's path without its query. */
function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

const drainBytes = 64 * 1024;

/** Whether much of a rejected request is still on its way: closing the connection is cheaper than reading it all. */
export function bodyMayBeLong({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = headers['content-length'];
  return length === undefined ? headers['transfer-encoding'] !== undefined : !(Number(length) <= drainBytes);
}
