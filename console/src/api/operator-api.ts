import { ApiClient } from './api-client.ts';
import { problemOf } from './problem.ts';
import type { Operator, OperatorSession } from '../../../src/generated/operator-types.ts';

/** Path of the operator API, relative to the console's page. */
export const operatorPrefix = '../admin/v1';

/** Calls the operator API as the operator who has signed in. The session's secret is in a cookie, which scripts cannot read. */
export class OperatorApi extends ApiClient {
  protected readonly away = 'The gateway cannot be reached. Is it running, and are you connected?';
  #csrfToken = '';

  constructor() {
    super(operatorPrefix);
  }

  /** Returns the operator of the session that this browser has; `null` if it has none. */
  async resume(): Promise<Operator | null> {
    const response = await this.fetch('GET', '/whoami', {});
    if (response.status === 401) return null;
    if (!response.ok) throw await problemOf(response);
    const operator = (await response.json()) as Operator;
    this.#csrfToken = operator.session?.csrf_token ?? '';
    return operator;
  }

  /** Begins a session. @throws {ApiProblem} `unauthenticated` if no operator has the token */
  async signIn(token: string): Promise<void> {
    const response = await this.fetch('POST', '/session', { authorization: `Bearer ${token}` });
    if (!response.ok) throw await problemOf(response);
    this.#csrfToken = ((await response.json()) as OperatorSession).csrf_token;
  }

  async signOut(): Promise<void> {
    const response = await this.fetch('DELETE', '/session', this.credentials('DELETE'));
    if (!response.ok && response.status !== 401) throw await problemOf(response);
    this.#csrfToken = '';
  }

  /** Sends a question that is too long for a query. It changes nothing. */
  async ask<T>(path: string, body: object): Promise<T> {
    const response = await this.call('POST', path, {}, body);
    return (await response.json()) as T;
  }

  protected credentials(method: string): Readonly<Record<string, string>> {
    return method === 'GET' ? {} : { 'x-csrf-token': this.#csrfToken };
  }
}
