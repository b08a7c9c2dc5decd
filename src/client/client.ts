/**
 * Client for the management API, to be used by parents' programs: `import { TenancyClient } from
 * 'tenancy-gateway/client'`. It needs nothing but `fetch`. docs/sdk.md explains how to use it.
 */
import { Transport, type Call, type TransportOptions } from './transport.ts';
import type {
  ActingDecision,
  ApiKey,
  Caller,
  CreatePortalSession,
  CreateSubAccount,
  Event,
  ExplainActingQuery,
  GetSubAccountLimitsQuery,
  GetUsageQuery,
  LimitsInForce,
  ListApiKeysQuery,
  ListEventsQuery,
  ListSubAccountsQuery,
  MintApiKey,
  MintedApiKey,
  Onboarding,
  PortalSession,
  PutSubAccount,
  RevokedApiKeys,
  RotateApiKey,
  SubAccount,
  UpdateApiKey,
  UpdateSubAccount,
  UsageRow,
} from '../generated/client-types.ts';

export { ProblemError } from './problem.ts';
export type { TransportOptions } from './transport.ts';

/** Options that every call accepts. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Options for calls that create or change something. */
export interface WriteOptions extends CallOptions {
  /**
   * Value of `Idempotency-Key`; random by default. A call may be repeated with the same value, even by a later run of
   * the program: the change takes effect only once.
   */
  readonly idempotencyKey?: string;
}

interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/**
 * Client that calls the management API with a parent's key. Every method throws a {@link ProblemError} if the gateway
 * rejects the call.
 */
export class TenancyClient {
  readonly #transport: Transport;

  constructor(options: TransportOptions) {
    this.#transport = new Transport(options);
  }

  readonly subAccounts = {
    create: (body: CreateSubAccount, options?: WriteOptions) => this.#post<SubAccount>('', body, options),
    /** Creates or updates the sub-account with this external id. Repeating the call changes nothing. */
    put: (externalId: string, body: PutSubAccount, options?: CallOptions) =>
      this.#call<SubAccount>('PUT', `/by-external-id/${encodeURIComponent(externalId)}`, body, options),
    /** Iterates over all sub-accounts, newest first. Pages are fetched as the loop gets to them. */
    list: (query: Omit<ListSubAccountsQuery, 'cursor'> = {}, options?: CallOptions) =>
      this.#all<SubAccount>('', query, options),
    get: (id: string, options?: CallOptions) => this.#call<SubAccount>('GET', pathOf(id), undefined, options),
    update: (id: string, body: UpdateSubAccount, options?: CallOptions) =>
      this.#call<SubAccount>('PATCH', pathOf(id), body, options),
    deactivate: (id: string, options?: WriteOptions) =>
      this.#post<SubAccount>(`${pathOf(id)}/deactivate`, undefined, options),
    reactivate: (id: string, options?: WriteOptions) =>
      this.#post<SubAccount>(`${pathOf(id)}/reactivate`, undefined, options),
    /** Returns what is left of the sub-account's limits and of the caller's. */
    limits: (id: string, query: GetSubAccountLimitsQuery = {}, options?: CallOptions) =>
      this.#transport.call<LimitsInForce>({ method: 'GET', path: `${pathOf(id)}/limits`, query, ...options }),
    /**
     * Deletes a deactivated sub-account for good. A 404 means that it is gone, too, perhaps by an attempt of this call
     * whose response was lost.
     */
    delete: (id: string, options?: CallOptions) =>
      this.#call<undefined>('DELETE', pathOf(id), undefined, options),
  };

  readonly apiKeys = {
    /** Returns the key along with its secrets. A repeated call with the same `idempotencyKey` returns no secrets. */
    mint: (subAccountId: string, body: MintApiKey, options?: WriteOptions) =>
      this.#post<MintedApiKey>(keyPath(subAccountId), body, options),
    list: (subAccountId: string, query: Omit<ListApiKeysQuery, 'cursor'> = {}, options?: CallOptions) =>
      this.#all<ApiKey>(keyPath(subAccountId), query, options),
    get: (subAccountId: string, keyId: string, options?: CallOptions) =>
      this.#call<ApiKey>('GET', keyPath(subAccountId, keyId), undefined, options),
    update: (subAccountId: string, keyId: string, body: UpdateApiKey, options?: CallOptions) =>
      this.#call<ApiKey>('PATCH', keyPath(subAccountId, keyId), body, options),
    rotate: (subAccountId: string, keyId: string, body: RotateApiKey, options?: WriteOptions) =>
      this.#post<MintedApiKey>(`${keyPath(subAccountId, keyId)}/rotate`, body, options),
    revoke: (subAccountId: string, keyId: string, options?: WriteOptions) =>
      this.#post<ApiKey>(`${keyPath(subAccountId, keyId)}/revoke`, undefined, options),
    /** Revokes all keys of a sub-account. */
    revokeAll: (subAccountId: string, options?: WriteOptions) =>
      this.#post<RevokedApiKeys>(`${keyPath(subAccountId)}/revoke-all`, undefined, options),
  };

  readonly events = {
    list: (query: Omit<ListEventsQuery, 'cursor'> = {}, options?: CallOptions) =>
      this.#all<Event>('/events', query, options),
    get: (id: string, options?: CallOptions) =>
      this.#call<Event>('GET', `/events${pathOf(id)}`, undefined, options),
  };

  readonly portalSessions = {
    /** Makes a link to the portal for one person, to whom the program redirects or shows it. It works once. */
    create: (body: CreatePortalSession, options?: CallOptions) =>
      this.#post<PortalSession>('/portal-sessions', body, options),
    end: (id: string, options?: CallOptions) =>
      this.#call<undefined>('DELETE', `/portal-sessions${pathOf(id)}`, undefined, options),
  };

  /** Iterates over the rows of a usage report. Pages are fetched as the loop gets to them. */
  usage(query: Omit<GetUsageQuery, 'cursor'> = {}, options?: CallOptions): AsyncGenerator<UsageRow, void> {
    return this.#all<UsageRow>('/usage', query, options);
  }

  /** Returns the caller's account and key, with what is left of their limits. */
  caller(options?: CallOptions): Promise<Caller> {
    return this.#call<Caller>('GET', '/caller', undefined, options);
  }

  /** Explains what the gateway would decide about a request with the API key of this client. */
  acting(query: ExplainActingQuery, options: CallOptions = {}): Promise<ActingDecision> {
    return this.#transport.call({ method: 'GET', path: '/acting', query, ...options });
  }

  /**
   * Returns the keys that have recently been used for writes without the acting header. Such writes fail once the first
   * active sub-account exists.
   */
  onboarding(options?: CallOptions): Promise<Onboarding> {
    return this.#call<Onboarding>('GET', '/onboarding', undefined, options);
  }

  /**
   * Calls the API behind the gateway as `acting`: `self`, the UUID of a sub-account, or `ext:` followed by its
   * external_id. `fetch` takes a path, which begins with `/`, and the options of the global `fetch`, and resolves to the
   * response, whatever its status. Reads are retried after a 429, a 503 or a broken connection; writes only after a
   * 429, which means that nothing was done.
   */
  actingAs(acting: string): { fetch(path: string, init?: RequestInit): Promise<Response> } {
    return {
      fetch: (path, init = {}) => {
        const headers = new Headers(init.headers);
        headers.set('x-service-acting-tenant', acting);
        const reads = ['GET', 'HEAD', 'OPTIONS'].includes((init.method ?? 'GET').toUpperCase());
        // A stream can be read only once. So a request is sent again only if it has no body, or if its body is a
        // string.
        const mayBeSentAgain = init.body === undefined || init.body === null || typeof init.body === 'string';
        return this.#transport.send(
          path,
          { ...init, headers },
          (status) => mayBeSentAgain && (reads || status === 429),
        );
      },
    };
  }

  #call<Body>(method: Call['method'], path: string, body?: object, options: CallOptions = {}): Promise<Body> {
    return this.#transport.call<Body>({ method, path, body, ...options });
  }

  #post<Body>(path: string, body: object | undefined, options: WriteOptions = {}): Promise<Body> {
    return this.#transport.call<Body>({ method: 'POST', path, body, ...options });
  }

  async *#all<Row>(path: string, query: object, options: CallOptions = {}): AsyncGenerator<Row, void> {
    let cursor: string | null = null;
    do {
      const asked = cursor === null ? query : { ...query, cursor };
      const page: Page<Row> = await this.#transport.call({ method: 'GET', path, query: asked, ...options });
      yield* page.data;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }
}

function pathOf(id: string): string {
  return `/${encodeURIComponent(id)}`;
}

function keyPath(subAccountId: string, keyId?: string): string {
  const keys = `${pathOf(subAccountId)}/api-keys`;
  return keyId === undefined ? keys : `${keys}${pathOf(keyId)}`;
}
