import type { AccountId } from '../domain/ids.ts';
import type { PortalSession } from '../domain/portal.ts';
import type { ChangeCaller } from './changes.ts';
import type { LimitReached } from './tenant-store.ts';

/** A portal session as a parent asks for it. */
export interface NewPortalSession extends Pick<
  PortalSession,
  'permissions' | 'scopes' | 'user' | 'returnUrl'
> {
  readonly id: string;
  readonly subAccountId: AccountId | null;
  /** SHA-256 of the secret of its link. */
  readonly digest: Uint8Array;
}

/**
 * Sessions of the portal. Every call is read from the store, so a session that has ended on one replica has ended on all.
 * A session also ends with the key that made it and with a suspension of its parent, and is not in force while its
 * sub-account is deactivated. Methods throw `ProblemError` `unavailable` if the store cannot be reached.
 */
export interface PortalSessionStore {
  /**
   * Creates a session with a link.
   *
   * @param linkMs milliseconds until the link expires
   * @param most most sessions that a parent may have
   * @returns when the link expires; `null` if the parent has no such sub-account
   * @throws ProblemError `account_deactivated` if the sub-account is deactivated, or the problem of the caller's key
   */
  create(
    session: NewPortalSession,
    linkMs: number,
    most: number,
    caller: ChangeCaller,
  ): Promise<Date | LimitReached | null>;
  /** Returns the keys of the MAC in links and tokens. The first one makes MACs; a new key comes last for a minute. */
  keys(): Promise<readonly Uint8Array[]>;
  /**
   * Redeems a link. Only the first call succeeds.
   *
   * @param link SHA-256 of the link's secret
   * @param token SHA-256 of the token that the session has from now on
   * @param sessionMs milliseconds until the session expires
   * @param network network of the visitor; networks take turns
   * @returns the session; `null` if the link has expired, was redeemed, or is unknown
   */
  redeem(
    link: Uint8Array,
    token: Uint8Array,
    sessionMs: number,
    network: string,
  ): Promise<PortalSession | null>;
  /** Returns the session with this token; `null` if there is none in force. Networks of visitors take turns. */
  find(token: Uint8Array, network: string): Promise<PortalSession | null>;
  /** Ends a session of a parent, redeemed or not. Waits for the changes that it is making. @returns whether there was one */
  end(id: string, parent: AccountId): Promise<boolean>;
}
