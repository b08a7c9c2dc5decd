import { Agent } from 'undici';

/** A response; the body where it is JSON. */
export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** `RateLimit-Policy`. */
  readonly policy?: string;
}

export interface Sent {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly limitMs?: number;
}

/** Asks one process, and returns `undefined` where no response comes: it may be frozen, cut off or dead. */
export class HttpClient {
  readonly origin: string;
  readonly #key: string | undefined;
  readonly #agent = new Agent({ connections: 32, pipelining: 1, connect: { timeout: 1_000 } });

  /** @param key sent where a request names none */
  constructor(origin: string, key?: string) {
    this.origin = origin;
    this.#key = key;
  }

  /** `undefined` where no response came within `limitMs`. */
  async send(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    sent: Sent = {},
  ): Promise<HttpResponse | undefined> {
    const { key = this.#key, headers = {}, body, limitMs = 2_000 } = sent;
    try {
      const response = await this.#agent.request({
        origin: this.origin,
        method,
        path,
        headers: {
          ...headers,
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(limitMs),
      });
      const text = await response.body.text();
      const policy = response.headers['ratelimit-policy'];
      return {
        ...{ status: response.statusCode, text, body: asObject(text) },
        ...(typeof policy === 'string' && { policy }),
      };
    } catch {
      return undefined;
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function asObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
