import { catalogue, type Problem, type ProblemCode } from '../domain/problem.ts';

/** The content type of every error body (RFC 9457 §3). */
export const problemContentType = 'application/problem+json';

/** What the `type` of a problem begins with unless `problems.type_base` says otherwise; its code follows. */
export const usualTypeBase = 'urn:tenancy-gateway:problem:';

/** What the body of a problem says beside the problem. */
export interface ProblemContext {
  /** Path of the request, without its query: a query may hold a secret. */
  readonly instance: string;
  readonly requestId: string;
  /** What the `type` begins with. */
  readonly typeBase: string;
}

/** What a problem says of itself, whichever request it is about. */
export interface ProblemMembers extends Readonly<Record<string, unknown>> {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
}

/** The body of a problem. */
export function problemBody(problem: Problem, { instance, requestId, typeBase }: ProblemContext): string {
  const { type, title, status, detail, code, ...more } = problemMembers(problem, typeBase);
  return JSON.stringify({ type, title, status, detail, instance, code, request_id: requestId, ...more });
}

/** The members of a problem's body that do not depend on a request. @param typeBase what its `type` begins with */
export function problemMembers(problem: Problem, typeBase: string): ProblemMembers {
  const { status, title } = catalogue[problem.code];
  return {
    type: typeBase + problem.code,
    title,
    status,
    detail: problem.detail,
    code: problem.code,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...problem.extra,
  };
}

/** The headers that belong to a problem, besides its content type and length. */
export function problemHeaders(problem: Problem): Record<string, string> {
  const headers: Record<string, string> = {};
  if (catalogue[problem.code].status === 401) headers['www-authenticate'] = 'Bearer';
  if (problem.code === 'upgrade_required') Object.assign(headers, webSocketWanted);
  if (problem.retryAfter !== undefined) headers['retry-after'] = String(problem.retryAfter);
  if (problem.allow !== undefined) headers['allow'] = problem.allow.join(', ');
  return headers;
}

/** The one protocol that requests are upgraded to (RFC 9110 §15.5.22), and its one version (RFC 6455 §4.4). */
const webSocketWanted = {
  connection: 'close, Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
} as const;
