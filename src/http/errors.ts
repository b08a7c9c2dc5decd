import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError, problemStatus, type Problem, type ProblemCode } from '../domain/problem.ts';
import { notFound } from './not-found.ts';
import { usualProblemForm, type ProblemForm } from './problem-body.ts';
import { formDecorator, requestIdHeader, sendProblem } from './problem-reply.ts';
import { fieldFaults } from './field-faults.ts';
import { invalidRequest } from './invalid-request.ts';

/**
 * Adds the request id to every response of `app`, and a problem body to every error. No cache keeps a response that does
 * not say otherwise itself. Call this on the root
 * instance before registering plugins, because plugins inherit only the handlers that are already set.
 */
export function installErrorReplies(app: FastifyInstance, form: ProblemForm = usualProblemForm): void {
  app.decorate(formDecorator, form);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({ [requestIdHeader]: request.id, 'cache-control': 'no-store' });
    done();
  });
  app.setErrorHandler(replyToError);
  app.setNotFoundHandler((_request, reply) => {
    sendProblem(reply, notFound);
  });
}

/**
 * Responds to a thrown error. Also used as Fastify's `frameworkErrors`, because errors before routing never reach an
 * error handler.
 */
export function replyToError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(error);
  if (problemStatus(problem.code) >= 500) {
    const err = error instanceof ProblemError ? (error.cause ?? error) : error;
    request.log.error({ err, code: problem.code }, 'request failed');
  }
  sendProblem(reply, problem);
}

/** Returns the problem for an error. An unknown error becomes `internal`; its cause appears only in the log. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  const known = error as Partial<FastifyError> | null | undefined;
  if (known?.validation) return invalidRequest(fieldFaults(known.validation, known.validationContext));
  const rejection = known?.code === undefined ? undefined : frameworkRejections[known.code];
  return rejection === undefined
    ? {
        code: 'internal',
        detail: 'Something went wrong on our side. Give the request id to support: our logs have it.',
      }
    : { code: rejection[0], detail: rejection[1] };
}

/** Problems for requests that Fastify or Node rejects before the gateway's own code runs. */
const frameworkRejections: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_BAD_URL: ['invalid_target', 'The path holds a malformed percent-encoding.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The request body is larger than this path accepts.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body with `Content-Type: application/json`.',
  ],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_request', 'The body is empty.'],
  FST_ERR_CTP_INVALID_JSON_BODY: ['invalid_request', 'The body is not JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The length of the body differs from Content-Length.',
  ],
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: ['unsupported_media_type', 'The request has no Content-Type.'],
  // The client closed the connection while sending its body, so it will not read the response.
  ECONNRESET: ['invalid_request', 'The request ended too early.'],
};
