/** What a session may do. */
export type Permission = 'keys:read' | 'keys:write' | 'usage:read' | 'events:read' | 'sub_accounts:read';

/** A session of the portal. */
export interface PortalSession {
  readonly id: string;
  readonly account: { readonly id: string; readonly name: string };
  /** The only sub-account that the session sees; `null` if it sees all of them. */
  readonly sub_account: BoundTo | null;
  readonly permissions: readonly Permission[];
  /** Scopes that keys made in the session may have. */
  readonly scopes: readonly string[];
  readonly user: string | null;
  readonly return_url: string | null;
  /** When it ends, by this machine's clock. */
  readonly endsAtMs: number;
}

interface BoundTo {
  readonly id: string;
  readonly name: string;
  readonly external_id: string | null;
}
