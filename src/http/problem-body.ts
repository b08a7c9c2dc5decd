import { catalogue, type Problem } from '../domain/problem.ts';

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

/** The body of a problem. */
export function problemBody(problem: Problem, { instance, requestId, typeBase }: ProblemContext): string {
  const { status, title } = catalogue[problem.code];
  return JSON.stringify({
    type: typeBase + problem.code,
    title,
    status,
    detail: problem.detail,
    instance,
    code: problem.code,
    request_id: requestId,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...problem.extra,
  });
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
