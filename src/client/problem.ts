import type { Problem } from '../generated/client-types.ts';

/** Thrown if the gateway rejects a call. Holds the problem from the response (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** Stable code of the problem. Programs should rely on it rather than on the wording. */
  readonly code: string;
  readonly status: number;
  /** Id of the request, as it appears in the operator's logs. */
  readonly requestId: string | null;
  /** Seconds to wait before trying again; `null` if the response does not say. */
  readonly retryAfterS: number | null;
  /** The whole problem body. If the response did not come from the gateway, only `status` is set. */
  readonly problem: Partial<Problem> & { readonly status: number };

  constructor(response: Response, problem: Partial<Problem>) {
    super(`${response.status} ${problem.code ?? response.statusText}: ${problem.detail ?? 'no details'}`);
    this.status = response.status;
    this.code = problem.code ?? 'unknown';
    this.requestId = problem.request_id ?? response.headers.get('x-request-id');
    this.retryAfterS = retryAfterS(response);
    this.problem = { ...problem, status: response.status };
  }
}

/** Reads the problem from a response. */
export async function problemIn(response: Response): Promise<ProblemError> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    return new ProblemError(response, typeof body === 'object' && body !== null ? body : {});
  } catch {
    return new ProblemError(response, {});
  }
}

/**
 * Returns the number of seconds to wait according to `Retry-After` (RFC 9110 §10.2.3); `null` if the header is missing
 * or malformed.
 */
export function retryAfterS({ headers }: Response): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, (atMs - Date.now()) / 1000);
}
