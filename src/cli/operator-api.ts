import { exitCode, Failure } from './failure.ts';
import type { Target } from './target.ts';

export interface Listing<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** Receipt for a change (`X-Service-Enforced`). */
export interface Receipt {
  readonly replicas: number;
  readonly ms: number;
  /** Number of replicas that did not confirm before their lease ended. */
  readonly unheard: number;
  /** Number of open streams that were ended. */
  readonly streams: number;
}

/**
 * Makes a change; its value is `{}` if the response has no body. The receipt is `null` if the change affected no replica. @throws {Failure} as {@link GatewayApi.call}
 */
export type Change = <T>(
  method: Method,
  path: string,
  body?: unknown,
) => Promise<{ readonly value: T; readonly enforced: Receipt | null }>;

/** Calls one of the gateway's APIs. */
export interface GatewayApi {
  /**
   * @param path relative to the API's prefix
   * @throws {Failure} if the gateway cannot be reached, or rejects the request
   */
  call<T>(method: Method, path: string, body?: unknown): Promise<T>;
  readonly change: Change;
  /**
   * Reads a response of any length, without a time limit.
   *
   * @param accept a media type
   * @throws {Failure} as {@link call}
   */
  read(path: string, accept: string): Promise<ReadableStream<Uint8Array>>;
}

/** Calls the operator API, under `/admin/v1`. */
export type OperatorApi = GatewayApi;

const timeoutMs = 30_000;

export function operatorApi(target: Target): OperatorApi {
  return gatewayApi(target, '/admin/v1', hints);
}

/**
 * Makes a client for one of a gateway's APIs.
 *
 * @param hints advice for each problem code, and for `unreachable` and `not-a-gateway`
 */
export function gatewayApi(
  { url, token, enforcedHeader }: Pick<Target, 'url' | 'token' | 'enforcedHeader'>,
  prefix: string,
  hints: Readonly<Record<string, string>>,
): GatewayApi {
  const change: Change = async <T>(method: Method, path: string, body?: unknown) => {
    const response = await fetch(`${url}${prefix}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    }).catch((error: unknown) => {
      throw unreachable(url, error, hints);
    });
    const received: unknown = await response.json().catch(() => null);
    // A 204 has no body; `T` is then `null`.
    if (response.ok && (received !== null || response.status === 204))
      return { value: received as T, enforced: readReceipt(response.headers.get(enforcedHeader)) };
    throw rejected(url, response, received, hints, method !== 'GET');
  };
  return {
    change,
    call: async <T>(method: Method, path: string, body?: unknown) =>
      (await change<T>(method, path, body)).value,

    async read(path, accept) {
      const headers = { authorization: `Bearer ${token}`, accept };
      const response = await fetch(`${url}${prefix}${path}`, { headers }).catch((error: unknown) => {
        throw unreachable(url, error, hints);
      });
      const isAccepted = response.headers.get('content-type')?.startsWith(accept) === true;
      if (response.ok && isAccepted && response.body !== null) return response.body;
      throw rejected(url, response, await response.json().catch(() => null), hints);
    },
  };
}

/** Reads a receipt such as `replicas=3; ms=4; unheard=1; streams=2`. */
function readReceipt(text: string | null): Receipt | null {
  if (text === null) return null;
  const said = new Map(text.split('; ').map((part) => part.split('=') as [string, string]));
  const number = (name: string): number => Number(said.get(name) ?? 0);
  return {
    replicas: number('replicas'),
    ms: number('ms'),
    unheard: number('unheard'),
    streams: number('streams'),
  };
}

function unreachable(url: string, error: unknown, hints: Readonly<Record<string, string>>): Failure {
  const { cause } = error as { cause?: { code?: string } };
  const reason = cause?.code ?? (error as Error).name;
  return new Failure(
    exitCode.unreachable,
    `The gateway cannot be reached at ${url} (${reason}).`,
    hints['unreachable'],
    { reason },
  );
}

interface Problem {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly request_id: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

function rejected(
  url: string,
  { status, headers }: Response,
  body: unknown,
  hints: Readonly<Record<string, string>>,
  isChange = false,
): Failure {
  if (!isProblem(body)) {
    return new Failure(
      exitCode.unreachable,
      `${url} responded with ${status}, but not like a gateway.`,
      hints['not-a-gateway'],
    );
  }
  // `detail` already contains the first fault.
  const [, ...others] = body.errors ?? [];
  const more = others.map(({ pointer, detail }) => `\n  ${pointer}: ${detail}`);
  const message = `${body.title}. ${body.detail}${more.join('')}`;
  const nothing = isChange && status === 400 ? 'Nothing was changed.' : undefined;
  const hint =
    hints[body.code] ?? nothing ?? `The gateway's log has more under request id ${body.request_id}.`;
  const mayNot = status === 401 || body.code === 'insufficient_role';
  const code = mayNot ? exitCode.notAllowed : status === 503 ? exitCode.unreachable : exitCode.failed;
  const retryAfter = Number(headers.get('retry-after') ?? NaN);
  return new Failure(code, message, hint, {
    problem: body,
    ...(retryAfter >= 0 && { retry_after: retryAfter }),
  });
}

const hints: Readonly<Record<string, string>> = {
  unreachable:
    'Is it running? `npm start` starts one here. Elsewhere, name its internal address: --url, or INTERNAL_HOST and INTERNAL_PORT.',
  'not-a-gateway': 'Is this the internal address (INTERNAL_PORT), and not the public one?',
  unauthenticated:
    'No operator of this gateway has this token: look at TENANCY_GATEWAY_TOKEN, ADMIN_TOKEN and DATA_DIR.',
  insufficient_role:
    '`tenancy-gateway whoami` shows your role. Ask an operator with the role that is needed.',
  invalid_api_key:
    'This looks like the public address: the operator API is at the internal one (INTERNAL_PORT).',
  still_active: '`tenancy-gateway accounts suspend` or `sub-accounts deactivate` comes first.',
  not_found:
    '`accounts list`, `sub-accounts list`, `keys find` and `events list` of `tenancy-gateway` show the ids.',
  unavailable:
    'The gateway cannot reach its database yet, or not any more; it recovers by itself. Its /readyz says more.',
};

function isProblem(body: unknown): body is Problem {
  return typeof body === 'object' && body !== null && 'code' in body && 'detail' in body;
}
