import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, problemStatus, type Problem, type ProblemCode } from '../domain/problem.ts';
import { notFound } from './not-found.ts';
import { usualTypeBase } from './problem-body.ts';
import { requestIdHeader, sendProblem, typeBaseDecorator } from './problem-reply.ts';
import { fieldFaults } from './field-faults.ts';
import { invalidRequest } from './invalid-request.ts';

/**
 * Gives every response of `app` itself the request's id and, where it is an error, a problem body.
 * To be called on the root, before plugins are registered: they inherit it.
 *
 * @param typeBase what the `type` of a problem begins with
 */
export function installErrorReplies(app: FastifyInstance, typeBase: string = usualTypeBase): void {
  app.decorate(typeBaseDecorator, typeBase);
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    done();
  });
  app.setErrorHandler(replyToError);
  app.setNotFoundHandler((_request, reply) => {
    sendProblem(reply, notFound);
  });
}

/**
 * Responds to an error that was thrown. Also fits the `frameworkErrors` option of Fastify: what is wrong before a
 * route is found does not come by an error handler.
 */
export function replyToError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(error);
  if (problemStatus(problem.code) >= 500) {
    const err = error instanceof ProblemError ? (error.cause ?? error) : error;
    request.log.error({ err, code: problem.code }, 'request failed');
  }
  sendProblem(reply, problem);
}

/** What a client is told about an error. An unknown one is `internal`; its cause goes to the log alone. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  const known = error as Partial<FastifyError> | null | undefined;
  if (known?.validation) return invalidRequest(fieldFaults(known.validation, known.validationContext));
  const rejection = known?.code === undefined ? undefined : frameworkRejections[known.code];
  return rejection === undefined
    ? { code: 'internal', detail: 'Something went wrong on our side. The request id names it in our logs.' }
    : { code: rejection[0], detail: rejection[1] };
}

/** What Fastify and Node reject before our own code sees it. */
const frameworkRejections: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_BAD_URL: ['invalid_target', 'The path holds a malformed percent-encoding.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The request body is larger than this path accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body with `Content-Type: application/json`.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says.'],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ['unsupported_media_type', 'The request has no Content-Type.'],
  // The client closed the connection in the middle of its body: it will not read the response.
  ECONNRESET: ['invalid_request', 'The request ended too early.'],
};
