import { Type, type Static, type TSchema } from 'typebox';
import { nameMaxLength } from '../../domain/account.ts';
import {
  apiKeyStatus,
  clientSecretPrefix,
  digestSecret,
  formatSecret,
  keyHints,
  secretRandomBytes,
  type ApiKey,
  type ApiKeyStatus,
  type KeyLabels,
} from '../../domain/api-key.ts';
import { uuidV7, type KeyId } from '../../domain/ids.ts';
import { parseInstant } from '../../domain/rfc3339.ts';
import { scopeMaxLength, scopePattern, scopesPerKey } from '../../domain/scope.ts';
import { limitsFromMembers, limitsToMembers } from '../../domain/limits/limits.ts';
import type { KeyChange, KeyLimits, NewApiKey } from '../../ports/api-keys.ts';
import { invalidField } from '../../http/invalid-request.ts';
import { displayName } from '../rest/display-name.ts';
import { keyLimits, limitsBody } from '../rest/limits.ts';
import type { Thing } from '../../domain/no-such.ts';
import { closed, nullableText, nullableTimestamp, timestamp } from '../rest/typebox.ts';

/** Member that names the owner of a key: `account_id` in the operator API, `sub_account_id` in the management API. */
export type OwnerField = 'account_id' | 'sub_account_id';

/** Returns the noun that a 404 uses for the owner of a key. */
export function ownerThing(field: OwnerField): Thing {
  return field === 'account_id' ? 'account' : 'sub-account';
}

/** Possible statuses of a key. */
export const statuses = ['active', 'expired', 'revoked'] as const satisfies readonly ApiKeyStatus[];

/** Members of a key's schema. A schema that lacks a member of {@link KeyLabels} does not compile. */
type WithLabels = Readonly<Record<keyof KeyLabels, TSchema> & Record<string, TSchema>>;

/** Members of a key in every response. */
export const apiKeyFields = {
  id: Type.String(),
  account_id: Type.Optional(Type.String()),
  sub_account_id: Type.Optional(Type.String()),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  prefix: nullableText(),
  last4: nullableText(),
  status: Type.Enum([...statuses]),
  created_at: timestamp,
  last_used_at: nullableTimestamp,
  expires_at: nullableTimestamp,
  revoked_at: nullableTimestamp,
  rotated_from: nullableText(),
  limits: limitsBody,
} satisfies WithLabels;

/** Schema of a key in a response body. Members that are not in the schema are left out, so secrets cannot slip in. */
export const apiKeyBody = closed(apiKeyFields);

/** Secrets, which appear only in the response to the request that made the key. A replayed response omits them. */
export const secretFields = {
  api_key: Type.Optional(Type.String()),
  client_secret: Type.Optional(Type.String()),
};

/** Response to a mint or a rotation. No other response contains the secrets (spec section 4, rule 1). */
export const mintedKeyBody = closed({ ...apiKeyFields, ...secretFields });

/** Scopes of a new key. */
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

/** Expiry of a key. */
export const expiresAtField = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'date-time',
    description: 'an RFC 3339 date-time such as `2027-01-31T12:00:00Z`',
  }),
);

/** Body of the request that mints a key. */
export const mintBody = closed({
  name: displayName('name', nameMaxLength),
  scopes: scopesField,
  expires_at: expiresAtField,
  limits: keyLimits,
} satisfies WithLabels);

/** Body of the request that changes a key. */
export const updateBody = closed(
  {
    name: Type.Optional(displayName('name', nameMaxLength)),
    expires_at: expiresAtField,
    limits: keyLimits,
  } satisfies WithLabels,
  { minProperties: 1 },
);

/** Maximum time that an old key may keep working after a rotation, in seconds: 30 days. */
const longestOverlapS = 30 * 24 * 3600;

/** Body of the request that rotates a key. */
export const rotateBody = closed({
  expires_in: Type.Integer({
    minimum: 0,
    maximum: longestOverlapS,
    description: 'seconds for which the old key keeps working; 0 revokes it at once',
  }),
  expires_at: expiresAtField,
});

/**
 * Returns the response body for a key.
 *
 * @param nowMs time used to determine the key's status, milliseconds since 1970
 */
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
    rotated_from: key.rotatedFrom,
    limits: limitsToMembers(key.limits),
  };
}

/** Reads a key's expiry; `null` means never. @throws ProblemError `invalid_request` unless the time is in the future */
export function readExpiry(text: string | null, nowMs: number): Date | null {
  const instant = text === null ? null : parseInstant(text);
  if (instant === null) return null;
  if (instant === undefined || instant <= nowMs) throw invalidField('/expires_at', 'must lie in the future.');
  return new Date(instant);
}

/** Reads the body of a mint. @throws ProblemError `invalid_request` if the key would already have expired */
export function readMint(body: Static<typeof mintBody>, nowMs: number): Omit<NewApiKey, keyof Made> {
  const { scopes = [], expires_at: expiry = null, limits, ...labels } = body;
  return {
    ...labels,
    scopes,
    expiresAt: readExpiry(expiry, nowMs),
    ...(limits && { limits: limitsFromMembers<KeyLimits>(limits) }),
  };
}

/** Reads the body of a PATCH. @throws ProblemError `invalid_request` if the key would already have expired */
export function readUpdate(body: Static<typeof updateBody>, nowMs: number): KeyChange {
  const { expires_at: expiry, limits, ...labels } = body;
  return {
    ...labels,
    ...(expiry !== undefined && { expiresAt: readExpiry(expiry, nowMs) }),
    ...(limits !== undefined && { limits: limitsFromMembers<KeyLimits>(limits) }),
  };
}

/** Members of a new key that {@link newApiKey} generates. */
type Made = Pick<NewApiKey, 'id' | 'digest' | 'clientSecretDigest' | 'prefix' | 'last4'>;

/**
 * Generates a new key: the secrets to return to the client, and the record to store.
 *
 * @param draft other members of the record
 * @param prefix prefix of the key
 */
export function newApiKey<Draft extends object>(
  draft: Draft,
  prefix: string,
  nowMs: number,
  randomBytes: (size: number) => Uint8Array,
): {
  readonly apiKey: string;
  readonly clientSecret: string;
  readonly stored: Draft & Made;
} {
  const apiKey = formatSecret(prefix, randomBytes(secretRandomBytes));
  const clientSecret = formatSecret(clientSecretPrefix, randomBytes(secretRandomBytes));
  return {
    apiKey,
    clientSecret,
    stored: {
      ...draft,
      id: uuidV7(nowMs, randomBytes(10)) as KeyId,
      digest: digestSecret(apiKey),
      clientSecretDigest: digestSecret(clientSecret),
      ...keyHints(apiKey),
    },
  };
}
