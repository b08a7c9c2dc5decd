import type { Problem } from './types.ts';

/** The gateway rejected a call, and says why (RFC 9457). */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  /** What is wrong, for programs: look at this, not at the texts. */
  readonly code: string;
  readonly status: number;
  /** Names the request in the operator's logs. */
  readonly requestId: string | null;
  /** Seconds after which it makes sense to try again; `null` where the gateway does not say. */
  readonly retryAfterS: number | null;
  /** The whole body. What did not come from the gateway has at least a status. */
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

/** Reads the problem that a response holds. */
export async function problemIn(response: Response): Promise<ProblemError> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    return new ProblemError(response, typeof body === 'object' && body !== null ? body : {});
  } catch {
    return new ProblemError(response, {});
  }
}

/** Seconds that `Retry-After` asks to wait (RFC 9110 §10.2.3); `null` without it. */
export function retryAfterS({ headers }: Response): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, (atMs - Date.now()) / 1000);
}
