import { Type, type Static } from 'typebox';
import { nameMaxLength } from '../../domain/account.ts';
import {
  apiKeyStatus,
  clientSecretPrefix,
  digestSecret,
  formatSecret,
  keyHints,
  secretRandomBytes,
  type ApiKey,
} from '../../domain/api-key.ts';
import { uuidV7, type KeyId } from '../../domain/ids.ts';
import { scopeMaxLength, scopePattern, scopesPerKey } from '../../domain/scope.ts';
import type { NewApiKey } from '../../ports/api-keys.ts';
import { displayName } from '../rest/display-name.ts';
import { closed, nullableText, nullableTimestamp, timestamp } from '../rest/typebox.ts';

/** The member that names the account a key belongs to: parents' keys are the operator's, the others their parent's. */
export type OwnerField = 'account_id' | 'sub_account_id';

/** The members of a key in every response. */
export const apiKeyFields = {
  id: Type.String(),
  account_id: Type.Optional(Type.String()),
  sub_account_id: Type.Optional(Type.String()),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  prefix: nullableText(),
  last4: nullableText(),
  status: Type.Enum(['active', 'expired', 'revoked']),
  created_at: timestamp,
  last_used_at: nullableTimestamp,
  expires_at: nullableTimestamp,
  revoked_at: nullableTimestamp,
};

/** A key in responses. The schema is what keeps secrets out: a member it does not name is not written. */
export const apiKeyBody = closed(apiKeyFields);

/** The response to a mint, the only one with the secrets (spec section 4, rule 1): replayed, it has them no more. */
export const mintedKeyBody = closed({
  ...apiKeyFields,
  api_key: Type.Optional(Type.String()),
  client_secret: Type.Optional(Type.String()),
});

/** The scopes of a new key. */
export const scopesField = Type.Optional(
  Type.Array(
    Type.String({
      pattern: scopePattern,
      maxLength: scopeMaxLength,
      description: 'letters, digits and `_ . * -`, in parts joined by `:`, such as `tracking:read`',
    }),
    { maxItems: scopesPerKey, uniqueItems: true },
  ),
);

/** When a new key expires. */
export const expiresAtField = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'an RFC 3339 date-time such as `2027-01-31T12:00:00Z`',
  }),
);

/** The request to mint. */
export const mintBody = closed({
  name: displayName('name', nameMaxLength),
  scopes: scopesField,
  expires_at: expiresAtField,
});

/** Writes a key. @param nowMs milliseconds since 1970 */
export function apiKeyToBody(key: ApiKey, owner: OwnerField, nowMs: number): Static<typeof apiKeyBody> {
  return {
    id: key.id,
    [owner]: key.accountId,
    name: key.name,
    scopes: [...key.scopes],
    prefix: key.prefix,
    last4: key.last4,
    status: apiKeyStatus(key, nowMs),
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}

/** A new key: the secrets for the client, and what is stored of them. @param prefix what the key begins with */
export function newApiKey(
  draft: { readonly name: string; readonly scopes: readonly string[]; readonly expiresAt: Date | null },
  prefix: string,
  nowMs: number,
  randomBytes: (size: number) => Uint8Array,
): { readonly apiKey: string; readonly clientSecret: string; readonly stored: NewApiKey } {
  const apiKey = formatSecret(prefix, randomBytes(secretRandomBytes));
  const clientSecret = formatSecret(clientSecretPrefix, randomBytes(secretRandomBytes));
  return {
    apiKey,
    clientSecret,
    stored: {
      id: uuidV7(nowMs, randomBytes(10)) as KeyId,
      ...draft,
      digest: digestSecret(apiKey),
      clientSecretDigest: digestSecret(clientSecret),
      ...keyHints(apiKey),
    },
  };
}
