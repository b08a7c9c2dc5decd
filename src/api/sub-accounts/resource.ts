import { Type, type Static } from 'typebox';
import {
  metadataKeyMaxLength,
  metadataMaxPairs,
  metadataValueMaxLength,
  nameMaxLength,
  type AccountChange,
  type Metadata,
  type SubAccount,
} from '../../domain/account.ts';
import { externalIdMaxLength, externalIdPattern } from '../../domain/external-id.ts';
import { displayName } from '../rest/display-name.ts';
import { givenId } from '../rest/given-id.ts';
import { limitsFromMembers, limitsToMembers, type Limits } from '../../domain/limits/limits.ts';
import { accountLimits, limitsBody } from '../rest/limits.ts';
import { closed, nullableText, nullableTimestamp, timestamp } from '../rest/typebox.ts';
import { warningBody } from './warnings.ts';

export const statuses = ['active', 'deactivated'] as const;

/** Schema of an `external_id` in requests. */
export const externalId = {
  maxLength: externalIdMaxLength,
  pattern: externalIdPattern,
  description: 'visible ASCII characters without space and comma',
};

/** Schema of the beginning of a name, used for searching. */
export const nameStart = displayName('text', nameMaxLength);

/** Schema of metadata in a response body. */
export const metadataBody = Type.Unsafe<Metadata>({
  type: 'object',
  additionalProperties: { type: 'string' },
});

/** Schema of a sub-account in a response body (spec section 2). */
export const subAccountBody = closed({
  id: Type.String(),
  name: Type.String(),
  external_id: nullableText(),
  status: Type.Enum([...statuses]),
  metadata: metadataBody,
  limits: limitsBody,
  created_at: timestamp,
  updated_at: timestamp,
  deactivated_at: nullableTimestamp,
  warnings: Type.Optional(Type.Array(warningBody)),
});

/** Members of a request that creates an account, whether a parent or a sub-account. */
export const creatable = {
  name: displayName('name', nameMaxLength),
  external_id: Type.Optional(nullableText(externalId)),
  metadata: Type.Optional(pairs<string>('string', metadataMaxPairs)),
};

/** Members of a request that changes an account, whether a parent or a sub-account. */
export const changeable = {
  name: Type.Optional(displayName('name', nameMaxLength)),
  external_id: Type.Optional(nullableText(externalId)),
  // A single request may remove every pair and add just as many new ones.
  metadata: Type.Optional(pairs<string | null>(['string', 'null'], 2 * metadataMaxPairs)),
  limits: accountLimits,
};

/** Body of the request that creates a sub-account. */
export const createBody = closed({ ...creatable, limits: accountLimits });

/** Body of an operator's request that creates a sub-account. */
export const givenIdBody = closed({ ...creatable, limits: accountLimits, id: givenId });

/** Body of the request that changes a sub-account. */
export const updateBody = closed(
  {
    ...changeable,
    status: Type.Optional(
      Type.Unsafe<never>({ not: {}, description: 'changes only by POST to …/deactivate and …/reactivate.' }),
    ),
  },
  { minProperties: 1 },
);

/** Body of the PUT by `external_id`. */
export const putBody = closed({
  name: creatable.name,
  metadata: changeable.metadata,
  limits: changeable.limits,
});

/** Converts a request body to a change of an account. */
export function changeOf(body: {
  readonly name?: string;
  readonly external_id?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
  readonly limits?: Static<typeof accountLimits>;
}): AccountChange {
  const { name, external_id: externalId, metadata, limits } = body;
  return {
    ...(name !== undefined && { name }),
    ...(externalId !== undefined && { externalId }),
    ...(metadata !== undefined && { metadata }),
    ...limitsMember(limits),
  };
}

/** Returns `{ limits }` with the limits from a body; `{}` if the body has none. */
export function limitsMember(
  limits: Static<typeof accountLimits> | undefined,
): Pick<AccountChange, 'limits'> {
  return limits === undefined ? {} : { limits: limitsFromMembers<Partial<Limits>>(limits) };
}

/** Returns the response body for a sub-account. */
export function subAccountToBody(account: SubAccount): Static<typeof subAccountBody> {
  return {
    id: account.id,
    name: account.name,
    external_id: account.externalId,
    status: account.status,
    metadata: account.metadata,
    limits: limitsToMembers(account.limits),
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    deactivated_at: account.deactivatedAt?.toISOString() ?? null,
  };
}

function pairs<Value>(type: string | string[], most: number) {
  return Type.Unsafe<Record<string, Value>>({
    type: 'object',
    maxProperties: most,
    propertyNames: { minLength: 1, maxLength: metadataKeyMaxLength },
    additionalProperties: { type, maxLength: metadataValueMaxLength },
  });
}
