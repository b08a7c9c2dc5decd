import { withoutQuery } from '../domain/paths.ts';
import { problemStatus, type Problem } from '../domain/problem.ts';
import type { ClientResponse } from '../http/client-request.ts';
import { problemBody, problemContentType, problemHeaders, type ProblemForm } from '../http/problem-body.ts';
import { reasonOf } from '../http/reason-phrase.ts';

/**
 * Responds with a problem (RFC 9457) without going through Fastify.
 *
 * @returns number of bytes in the body
 */
export function writeProblem(
  response: ClientResponse,
  problem: Problem,
  about: {
    /** Target as the client sent it. The problem leaves out the query. */
    readonly target: string;
    readonly requestId: string;
    readonly form: ProblemForm;
    /** Additional headers, as a flat list of names and values. */
    readonly headers: readonly string[];
    /** Value of `Vary`; empty if there is none. */
    readonly vary: string;
  },
): number {
  const body = problemBody(problem, {
    instance: withoutQuery(about.target),
    requestId: about.requestId,
    typeBase: about.form.typeBase,
  });
  const headers = ['content-type', problemContentType, 'x-request-id', about.requestId, ...about.headers];
  for (const [name, value] of Object.entries(problemHeaders(problem, about.form)))
    for (const one of typeof value === 'string' ? [value] : value) headers.push(name, one);
  if (about.vary !== '') headers.push('vary', about.vary);
  const status = problemStatus(problem.code);
  const bytes = Buffer.from(body);
  response.send(status, reasonOf(status), headers, bytes.length, bytes.toString('latin1'));
  return bytes.length;
}
