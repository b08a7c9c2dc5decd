import { Agent } from 'undici';

/** An answer; the body where it is JSON. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Sent {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly limitMs?: number;
}

/** Asks one process, and takes "no answer" for an answer: it may be frozen, cut off or dead. */
export class HttpClient {
  readonly #origin: string;
  readonly #key: string | undefined;
  readonly #agent = new Agent({ connections: 32, pipelining: 1, connect: { timeout: 1_000 } });

  /** @param key sent where a request names none */
  constructor(origin: string, key?: string) {
    this.#origin = origin;
    this.#key = key;
  }

  /** `undefined` where no answer came within `limitMs`. */
  async send(method: 'GET' | 'POST' | 'PATCH', path: string, sent: Sent = {}): Promise<Answer | undefined> {
    const { key = this.#key, headers = {}, body, limitMs = 2_000 } = sent;
    try {
      const answer = await this.#agent.request({
        origin: this.#origin,
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
      return { status: answer.statusCode, body: asObject(await answer.body.text()) };
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
