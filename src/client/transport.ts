import { problemIn, retryAfterS } from './problem.ts';

export interface TransportOptions {
  /** URL of the gateway's public listener, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** The API key of a parent account. */
  readonly apiKey: string;
  /** Maximum number of retries of a call that may be repeated; 3 by default. */
  readonly retries?: number;
  /** Maximum `Retry-After` for which a retry waits, in seconds; 60 by default. A longer one fails the call at once. */
  readonly mostRetryAfterS?: number;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/** A call of the management API. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Path after `/v1/sub-accounts`. */
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests with the key, and retries them if a retry is safe. */
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
   * Makes a call. Every call may be retried, because a `POST` has an `Idempotency-Key` and so takes effect once.
   *
   * @throws {ProblemError} if the gateway rejects the call
   * @throws TypeError from `fetch` if the gateway cannot be reached
   */
  async call<Body>({ method, path, query, body, idempotencyKey, signal }: Call): Promise<Body> {
    const headers = new Headers({ accept: 'application/json' });
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (method === 'POST') headers.set('idempotency-key', idempotencyKey ?? crypto.randomUUID());
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) };
    const response = await this.send(`/v1/sub-accounts${path}${queryOf(query)}`, init, () => true);
    if (!response.ok) throw await problemIn(response);
    return (await response.json()) as Body;
  }

  /**
   * Sends a request. If `mayRepeat` allows it, retries after 429, 503, 409 with `Retry-After`, and a broken connection.
   *
   * @param mayRepeat whether to retry after this status; 0 stands for a broken connection
   */
  async send(path: string, init: RequestInit, mayRepeat: (status: number) => boolean): Promise<Response> {
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
        // The connection can be used again only after the body is read.
        await response.arrayBuffer();
      } catch (error) {
        if (isLast || init.signal?.aborted === true || !mayRepeat(0)) throw error;
      }
      await pause(waitS * 1000, init.signal ?? undefined);
    }
  }
}

/**
 * Whether a later attempt may succeed. 409 with `Retry-After` means that the first call with this `Idempotency-Key` is
 * still running.
 */
function isBusy({ status, headers }: Response): boolean {
  return status === 429 || status === 503 || (status === 409 && headers.has('retry-after'));
}

/**
 * Returns the seconds to wait before another attempt: half a second, doubled with each attempt, times a random factor
 * from 0.5 to 1, so that clients do not all retry at the same time.
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
