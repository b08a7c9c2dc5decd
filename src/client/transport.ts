import { problemIn, retryAfterS } from './problem.ts';

export interface TransportOptions {
  /** URL of the gateway's public listener, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** The API key of a parent account. */
  readonly apiKey: string;
  /** Maximum number of retries; 3 by default. Only calls that are safe to repeat are retried. */
  readonly retries?: number;
  /**
   * Longest `Retry-After` to wait for, in seconds; 60 by default. If the gateway asks for more, the call fails at once.
   */
  readonly mostRetryAfterS?: number;
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** A call to the management API. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after `/v1/sub-accounts`. */
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests with an API key, and retries them if that is safe. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #base: string;
  readonly #fetch: typeof fetch;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#base = options.baseUrl.replace(/\/+$/, '');
    this.#fetch = options.fetch ?? fetch;
  }

  /**
   * Makes a call. Every call is safe to retry: a `POST` carries an `Idempotency-Key`, and the other methods are
   * idempotent.
   *
   * @throws {ProblemError} if the gateway rejects the call
   * @throws TypeError if an id is empty, `.` or `..`, or from `fetch` if the gateway cannot be reached
   */
  async call<Body>({ method, path, query, body, idempotencyKey, signal }: Call): Promise<Body> {
    // `fetch` removes such segments from a URL, and the rest would name another operation.
    if (/\/\.{0,2}(?:\/|$)/.test(path)) throw new TypeError('An id is empty, `.` or `..`.');
    const headers = new Headers({ accept: 'application/json' });
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (method === 'POST') headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID());
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) };
    const response = await this.send(`/v1/sub-accounts${path}${queryOf(query)}`, init, () => true);
    if (!response.ok) throw await problemIn(response);
    return (response.status === 204 ? undefined : await response.json()) as Body;
  }

  /**
   * Sends a request. Retries after a 429, a 503, a 409 with `Retry-After`, or a broken connection, if `mayRepeat`
   * allows it.
   *
   * @param path begins with `/`
   * @param mayRepeat returns whether to retry after `status`; a `status` of 0 stands for a broken connection
   * @throws TypeError if `path` does not begin with `/`, or from `fetch` if the gateway cannot be reached
   */
  async send(path: string, init: RequestInit, mayRepeat: (status: number) => boolean): Promise<Response> {
    // Another path could end the host of the base URL, as `@evil.example` does, and the key would go there.
    if (!path.startsWith('/')) throw new TypeError('The path must begin with `/`.');
    const { apiKey, retries = 3, mostRetryAfterS = 60 } = this.#options;
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${apiKey}`);
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries;
      let waitS = backOffS(attempt);
      try {
        const response = await this.#fetch(`${this.#base}${path}`, { ...init, headers });
        if (isLast || !isBusy(response) || !mayRepeat(response.status)) return response;
        waitS = retryAfterS(response) ?? waitS;
        if (waitS > mostRetryAfterS) return response;
        // The connection can be reused only once the body has been read.
        await response.arrayBuffer();
      } catch (error) {
        if (isLast || init.signal?.aborted === true || !mayRepeat(0)) throw error;
      }
      await pause(waitS * 1000, init.signal ?? undefined);
    }
  }
}

/**
 * Whether a later attempt may succeed. A 409 with `Retry-After` means that an earlier call with the same
 * `Idempotency-Key` is still running.
 */
function isBusy({ status, headers }: Response): boolean {
  return status === 429 || status === 503 || (status === 409 && headers.has('retry-after'));
}

/**
 * Returns how many seconds to wait before the next attempt: half a second, doubled with each attempt, times a random
 * factor between 0.5 and 1. The random factor keeps clients from all retrying at once.
 */
function backOffS(attempt: number): number {
  return 0.5 * 2 ** attempt * (0.5 + Math.random() / 2);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Encodes query parameters; `metadata: { tier: '1' }` becomes `metadata[tier]=1`. */
function queryOf(query: object | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}) as [string, unknown][]) {
    if (typeof value === 'string' || typeof value === 'number') parameters.set(name, String(value));
    else if (typeof value === 'object' && value !== null)
      for (const [key, text] of Object.entries(value)) parameters.set(`${name}[${key}]`, String(text));
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
