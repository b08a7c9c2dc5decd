/** Error that a call to the operator API ended with. */
export class ApiProblem extends Error {
  /** Code of the problem; `unreachable` if no gateway responded. */
  readonly code: string;
  /** Status of the response; 0 if there was none. */
  readonly status: number;
  /** Id under which the gateway's log has more; `null` if there was no response. */
  readonly requestId: string | null;
  /** Faults of the request, each with a JSON pointer into its body. */
  readonly faults: readonly Fault[];

  constructor(status: number, members: ProblemMembers) {
    super(members.detail);
    this.name = 'ApiProblem';
    this.status = status;
    this.code = members.code;
    this.requestId = members.request_id ?? null;
    this.faults = members.errors ?? [];
  }

  /** Whether a change that ended with it may have been made: there was no response, or the gateway could not tell. */
  get isUncertain(): boolean {
    return this.status === 0 || this.status >= 500 || this.code === 'idempotency_in_flight';
  }
}

interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

interface ProblemMembers {
  readonly code: string;
  readonly detail: string;
  readonly request_id?: string;
  readonly errors?: readonly Fault[];
}

/** Reads the body of a response that is not 2xx. */
export async function problemOf(response: Response): Promise<ApiProblem> {
  const body: unknown = await response.json().catch(() => null);
  if (isProblem(body)) return new ApiProblem(response.status, body);
  const detail = `Something responded with ${response.status}, but not like a gateway. Is a proxy in between?`;
  return new ApiProblem(response.status, { code: 'not_a_gateway', detail });
}

function isProblem(body: unknown): body is ProblemMembers {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}

/** Problem of a call that got no response. @param detail what the person can look at */
export function unreachable(detail: string): ApiProblem {
  return new ApiProblem(0, { code: 'unreachable', detail });
}
