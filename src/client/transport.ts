import { problemIn, retryAfterS } from './problem.ts';

export interface TransportOptions {
  /** Where the gateway's public listener is, such as `https://api.example.com`. */
  readonly baseUrl: string;
  /** The API key of a parent account. */
  readonly apiKey: string;
  /** How often a call is sent again that may be; 3 unless said. */
  readonly retries?: number;
  /** The longest `Retry-After` that is waited for, seconds; what asks for more is an error at once. 60 unless said. */
  readonly mostRetryAfterS?: number;
  /** In place of the global one. */
  readonly fetch?: typeof fetch;
}

/** A call of the management API. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** Behind `/v1/sub-accounts`. */
  readonly path: string;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends requests with the key, and again where that is safe. */
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
   * Makes a call. Every one may be sent again: a `POST` has an `Idempotency-Key`, so that it takes effect once.
   *
   * @throws {ProblemError} where the gateway rejects it
   * @throws TypeError of `fetch` where it cannot be reached
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
   * Sends a request, and sends it again after 429, 503 and 409 with `Retry-After`, and after a broken connection, where `mayRepeat` says so.
   *
   * @param mayRepeat of the status, 0 for a broken connection
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
        // The connection is free only once the body has been read.
        await response.arrayBuffer();
      } catch (error) {
        if (isLast || init.signal?.aborted === true || !mayRepeat(0)) throw error;
      }
      await pause(waitS * 1000, init.signal ?? undefined);
    }
  }
}

/** 409 with `Retry-After`: the first call with this `Idempotency-Key` is still at work. */
function isBusy({ status, headers }: Response): boolean {
  return status === 429 || status === 503 || (status === 409 && headers.has('retry-after'));
}

/** Half a second, doubled each time, and of that a random part, so that clients do not come back together. */
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

/** `metadata: { tier: '1' }` is `metadata[tier]=1`. */
function queryOf(query: object | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}) as [string, unknown][]) {
    if (typeof value === 'string' || typeof value === 'number') parameters.set(name, String(value));
    else if (typeof value === 'object' && value !== null)
      for (const [key, text] of Object.entries(value)) parameters.set(`${name}[${key}]`, String(text));
  }
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}
