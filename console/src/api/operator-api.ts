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
  /** Called when the session has ended. */
  onSignedOut: () => void = () => undefined;
  #csrfToken = '';

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
    await this.change('DELETE', '/session').catch((error: unknown) => {
      if (!(error instanceof ApiProblem && error.status === 401)) throw error;
    });
    this.#csrfToken = '';
    this.onSignedOut();
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    const response = await this.#call('GET', search === '' ? path : `${path}?${search}`, undefined);
    return (await response.json()) as T;
  }

  /** Makes a change. `value` is `null` if the response has no body. */
  async change<T>(method: Change, path: string, body?: object): Promise<Changed<T>> {
    const response = await this.#call(method, path, body);
    const value = response.status === 204 ? null : ((await response.json()) as unknown);
    return { value: value as T, enforced: receiptOf(response.headers) };
  }

  async #call(method: Change | 'GET', path: string, body: object | undefined): Promise<Response> {
    const headers = {
      ...(method !== 'GET' && { 'x-csrf-token': this.#csrfToken }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const response = await this.#fetch(method, path, headers, body);
    if (response.ok) return response;
    if (response.status === 401) this.onSignedOut();
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
      });
    } catch {
      throw unreachable();
    }
  }
}
