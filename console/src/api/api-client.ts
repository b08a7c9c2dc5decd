import { ApiProblem, problemOf, unreachable } from './problem.ts';
import { receiptOf, type Receipt } from './receipt.ts';

/** Parameters of a query. Empty and missing ones are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** Milliseconds after which a call counts as unanswered. A change may wait for the lease of a replica that is away. */
const timeoutMs = 30_000;

type Change = 'POST' | 'PATCH' | 'PUT' | 'DELETE';

type Headers = Readonly<Record<string, string>>;

/** Result of a change. */
export interface Changed<T> {
  readonly value: T;
  /** `null` if the change affected no replica. */
  readonly enforced: Receipt | null;
}

/** Calls an API of the gateway. Methods throw {@link ApiProblem}. */
export abstract class ApiClient {
  /** Called when a call was rejected because the session has ended. */
  onEnded: () => void = () => undefined;
  readonly #prefix: string;
  /** The `Idempotency-Key` of each change that may have been made, by its path and body, so that it can be repeated. */
  readonly #uncertain = new Map<string, string>();

  /** @param prefix path of the API, relative to the page */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    const response = await this.call('GET', search === '' ? path : `${path}?${search}`, {});
    return (await response.json()) as T;
  }

  /** Reads all pages of a list. */
  async getAll<T>(path: string, query: Query): Promise<readonly T[]> {
    const rows: T[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.get<Page<T>>(path, { ...query, cursor });
      rows.push(...page.data);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return rows;
  }

  /**
   * Makes a change. `value` is `null` if the response has no body. A POST that may have been made is sent again with the
   * same `Idempotency-Key`, so it takes effect once.
   */
  async change<T>(method: Change, path: string, body?: object): Promise<Changed<T>> {
    const same = `${path} ${JSON.stringify(body)}`;
    const key = this.#uncertain.get(same) ?? randomKey();
    const headers = method === 'POST' ? { 'idempotency-key': key } : {};
    let response: Response;
    try {
      response = await this.call(method, path, headers, body);
      this.#uncertain.delete(same);
    } catch (error) {
      if (error instanceof ApiProblem && error.isUncertain) this.#uncertain.set(same, key);
      else this.#uncertain.delete(same);
      throw error;
    }
    const value = response.status === 204 ? null : ((await response.json()) as unknown);
    return { value: value as T, enforced: receiptOf(response.headers) };
  }

  /** Says that no gateway responded. */
  protected abstract readonly away: string;

  /** Headers that prove the session, for a call with `method`. */
  protected abstract credentials(method: Change | 'GET'): Headers;

  /** Makes a call of the session. */
  protected async call(
    method: Change | 'GET',
    path: string,
    more: Headers,
    body?: object,
  ): Promise<Response> {
    const response = await this.fetch(method, path, { ...more, ...this.credentials(method) }, body);
    if (response.ok) return response;
    if (response.status === 401) this.onEnded();
    throw await problemOf(response);
  }

  /** Sends a request as it is. @returns the response, whatever its status */
  protected async fetch(method: string, path: string, headers: Headers, body?: object): Promise<Response> {
    try {
      return await fetch(`${this.#prefix}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        body: body === undefined ? null : JSON.stringify(body),
        credentials: 'same-origin',
        cache: 'no-store',
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch {
      throw unreachable(this.away);
    }
  }
}

/** `crypto.randomUUID` does not exist on a page that came by plain HTTP. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
