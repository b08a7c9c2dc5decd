import { challengesOf, usualSchemes } from '../domain/authorization.ts';
import { catalogue, type Problem, type ProblemCode } from '../domain/problem.ts';

/** Content type of every error body (RFC 9457 §3). */
export const problemContentType = 'application/problem+json';

/** Default of `problems.type_base`. A problem's `type` is this prefix followed by the problem's code. */
export const usualTypeBase = 'urn:tenancy-gateway:problem:';

/** Configured parts of the responses to problems. */
export interface ProblemForm {
  /** Start of every problem's `type`. */
  readonly typeBase: string;
  /** Values of `WWW-Authenticate` in each 401. Each is sent in a header of its own. */
  readonly challenges: readonly string[];
}

/** The {@link ProblemForm} of the default configuration. */
export const usualProblemForm: ProblemForm = {
  typeBase: usualTypeBase,
  challenges: challengesOf(usualSchemes),
};

/** Members of a problem body that depend on the request or the configuration. */
export interface ProblemContext {
  /** Path of the request. The query is left out because it may contain a secret. */
  readonly instance: string;
  readonly requestId: string;
  /** Start of the problem's `type`. */
  readonly typeBase: string;
}

/** Members of a problem body that do not depend on the request. */
export interface ProblemMembers extends Readonly<Record<string, unknown>> {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
}

/** Writes the body of a problem. */
export function problemBody(problem: Problem, { instance, requestId, typeBase }: ProblemContext): string {
  const { type, title, status, detail, code, ...more } = problemMembers(problem, typeBase);
  return JSON.stringify({ type, title, status, detail, instance, code, request_id: requestId, ...more });
}

/** Returns the {@link ProblemMembers} of a problem. @param typeBase start of its `type` */
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

/** Returns the headers of a problem, except its content type and length. A list has one header for each value. */
export function problemHeaders(
  problem: Problem,
  { challenges }: Pick<ProblemForm, 'challenges'>,
): Record<string, string | string[]> {
  // Some caches keep rejections by default, such as 404 and 405 (RFC 9110 §15.1).
  const headers: Record<string, string | string[]> = { 'cache-control': 'no-store' };
  if (catalogue[problem.code].status === 401) headers['www-authenticate'] = [...challenges];
  if (problem.code === 'upgrade_required') Object.assign(headers, webSocketWanted);
  if (problem.retryAfter !== undefined) headers['retry-after'] = String(problem.retryAfter);
  if (problem.allow !== undefined) headers['allow'] = problem.allow.join(', ');
  return headers;
}

/** Headers that say which upgrade is supported (RFC 9110 §15.5.22), and in which version (RFC 6455 §4.4). */
const webSocketWanted = {
  upgrade: 'websocket',
  'sec-websocket-version': '13',
} as const;
