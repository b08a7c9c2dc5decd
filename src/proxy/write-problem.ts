import type { ServerResponse } from 'node:http';
import { withoutQuery } from '../domain/paths.ts';
import { problemStatus, type Problem } from '../domain/problem.ts';
import { boundRest } from '../http/unfinished-body.ts';
import { problemBody, problemContentType, problemHeaders, type ProblemForm } from '../http/problem-body.ts';

/**
 * Responds with a problem (RFC 9457) without going through Fastify.
 *
 * @returns number of bytes in the body
 */
export function writeProblem(
  response: ServerResponse,
  problem: Problem,
  about: {
    /** Target as the client sent it. The problem leaves out the query. */
    readonly target: string;
    readonly requestId: string;
    readonly form: ProblemForm;
    /** Additional headers, as a flat list of names and values. */
    readonly headers: readonly string[];
  },
): number {
  const body = problemBody(problem, {
    instance: withoutQuery(about.target),
    requestId: about.requestId,
    typeBase: about.form.typeBase,
  });
  const length = Buffer.byteLength(body);
  const headers = ['content-type', problemContentType, 'content-length', String(length)];
  headers.push('x-request-id', about.requestId, ...about.headers);
  for (const [name, value] of Object.entries(problemHeaders(problem, about.form)))
    for (const one of typeof value === 'string' ? [value] : value) headers.push(name, one);
  response.writeHead(problemStatus(problem.code), headers);
  response.end(body);
  boundRest(response);
  return length;
}
