import { ApiProblem, problemOf, unreachable } from './problem.ts';
import { receiptOf, type Receipt } from './receipt.ts';
import type { Operator, OperatorSession } from '../../../src/api/reference/documents/operator-types.ts';

/** Path of the operator API, relative to the console's page. */
export const operatorPrefix = '../admin/v1';

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

/** Result of a change. */
export interface Changed<T> {
  readonly value: T;
  /** `null` if the change affected no replica. */
  readonly enforced: Receipt | null;
}

/**
 * Calls the operator API as the operator who has signed in. Methods throw {@link ApiProblem}. The session's secret is in
 * a cookie, which scripts cannot read.
 */
export class OperatorApi {
  /** Called when a call was rejected because the session has ended. */
  onEnded: () => void = () => undefined;
  #csrfToken = '';
  /** The `Idempotency-Key` of each change that may have been made, by its path and body, so that it can be repeated. */
  readonly #uncertain = new Map<string, string>();

  /** Returns the operator of the session that this browser has; `null` if it has none. */
  async resume(): Promise<Operator | null> {
    const response = await this.#fetch('GET', '/whoami', {});
    if (response.status === 401) return null;
    if (!response.ok) throw await problemOf(response);
    const operator = (await response.json()) as Operator;
    this.#csrfToken = operator.session?.csrf_token ?? '';
    return operator;
  }

  /** Begins a session. @throws {ApiProblem} `unauthenticated` if no operator has the token */
  async signIn(token: string): Promise<void> {
    const response = await this.#fetch('POST', '/session', { authorization: `Bearer ${token}` });
    if (!response.ok) throw await problemOf(response);
    this.#csrfToken = ((await response.json()) as OperatorSession).csrf_token;
  }

  async signOut(): Promise<void> {
    const response = await this.#fetch('DELETE', '/session', { 'x-csrf-token': this.#csrfToken });
    if (!response.ok && response.status !== 401) throw await problemOf(response);
    this.#csrfToken = '';
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    const response = await this.#call('GET', search === '' ? path : `${path}?${search}`, {});
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

  /** Sends a question that is too long for a query. It changes nothing. */
  async ask<T>(path: string, body: object): Promise<T> {
    const response = await this.#call('POST', path, {}, body);
    return (await response.json()) as T;
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
      response = await this.#call(method, path, headers, body);
      this.#uncertain.delete(same);
    } catch (error) {
      if (error instanceof ApiProblem && error.isUncertain) this.#uncertain.set(same, key);
      else this.#uncertain.delete(same);
      throw error;
    }
    const value = response.status === 204 ? null : ((await response.json()) as unknown);
    return { value: value as T, enforced: receiptOf(response.headers) };
  }

  async #call(
    method: Change | 'GET',
    path: string,
    more: Readonly<Record<string, string>>,
    body?: object,
  ): Promise<Response> {
    const headers = {
      ...more,
      ...(method !== 'GET' && { 'x-csrf-token': this.#csrfToken }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await this.#fetch(method, path, headers, body);
    if (response.ok) return response;
    if (response.status === 401) this.onEnded();
    throw await problemOf(response);
  }

  async #fetch(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: object,
  ): Promise<Response> {
    try {
      return await fetch(`${operatorPrefix}${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        credentials: 'same-origin',
        cache: 'no-store',
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch {
      throw unreachable();
    }
  }
}

/** `crypto.randomUUID` does not exist on a page that came by plain HTTP. */
function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
}
