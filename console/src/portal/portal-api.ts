import { ApiClient } from '../api/api-client.ts';
import { problemOf } from '../api/problem.ts';
import type { PortalSession } from './portal-session.ts';

/** What a session has in responses. */
type SessionBody = Omit<PortalSession, 'endsAtMs'> & { readonly expires_at: string };

/** Calls the portal's API. The session's token is in this object only, so a page that is reloaded has none. */
export class PortalApi extends ApiClient {
  protected readonly away = 'The portal cannot be reached. Are you connected to the network?';
  #token = '';

  constructor() {
    super('api');
  }

  /** Exchanges a link for a session. @throws {ApiProblem} `unauthenticated` if the link works no more */
  async redeem(link: string): Promise<PortalSession> {
    const response = await this.fetch('POST', '/redeem', {}, { link });
    if (!response.ok) throw await problemOf(response);
    const { token, session } = (await response.json()) as {
      readonly token: string;
      readonly session: SessionBody;
    };
    this.#token = token;
    // The clock of this machine may be wrong. The server's own is in the response.
    const serverMs = Date.parse(response.headers.get('date') ?? '') || Date.now();
    return { ...session, endsAtMs: Date.now() + Date.parse(session.expires_at) - serverMs };
  }

  /** Ends the session. */
  async leave(): Promise<void> {
    const response = await this.fetch('DELETE', '/session', this.credentials());
    if (!response.ok && response.status !== 401) throw await problemOf(response);
    this.forget();
  }

  /** Forgets the token of a session that has ended. */
  forget(): void {
    this.#token = '';
  }

  protected credentials(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#token}` };
  }
}
