import type { AccountId, KeyId } from './ids.ts';

/** Permissions that a portal session may have. Each allows some operations of the portal, and nothing else. */
export const portalPermissions = [
  'keys:read',
  'keys:write',
  'usage:read',
  'events:read',
  'sub_accounts:read',
] as const;

export type PortalPermission = (typeof portalPermissions)[number];

/** Session of a person whom a parent let into the portal. */
export interface PortalSession {
  readonly id: string;
  readonly account: { readonly id: AccountId; readonly name: string };
  /** The only sub-account that the session may see; `null` if it may see all of the parent's. */
  readonly subAccount: PortalSubAccount | null;
  /** The parent's key that made the session. */
  readonly keyId: KeyId;
  readonly permissions: readonly PortalPermission[];
  /** Scopes that keys made in the session may have. */
  readonly scopes: readonly string[];
  /** Name that the parent has for the person. */
  readonly user: string | null;
  /** Address of the page that sent the person here. */
  readonly returnUrl: string | null;
  readonly expiresAt: Date;
}

export interface PortalSubAccount {
  readonly id: AccountId;
  readonly name: string;
  readonly externalId: string | null;
}
