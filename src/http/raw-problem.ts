import { withoutQuery } from '../domain/paths.ts';
import { problemStatus, type Problem } from '../domain/problem.ts';
import type { ReceivedHead } from '../ports/request-record.ts';
import { problemBody, problemContentType } from './problem-body.ts';
import { reasonOf } from './reason-phrase.ts';

/**
 * Returns the function that writes the whole response to a request with a fault in its head, or to bytes that are no
 * request. `target` is empty if there is no request, and so is `instance` in the problem body.
 */
export function rawProblems(
  newRequestId: (request: ReceivedHead) => string,
  typeBase: string,
): (problem: Problem, toHead: boolean, target?: string) => string {
  return (problem, toHead, target = '') => {
    const status = problemStatus(problem.code);
    const requestId = newRequestId(noRequest);
    const body = problemBody(problem, { instance: withoutQuery(target), requestId, typeBase });
    return (
      `HTTP/1.1 ${status} ${reasonOf(status)}\r\n` +
      `Content-Type: ${problemContentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${toHead ? '' : body}`
    );
  };
}

/** Stands in for the missing request, so that the response can be given a request id. */
const noRequest: ReceivedHead = { rawHeaders: [], socket: {} };
