import { Type, type Static } from 'typebox';
import {
  metadataKeyMaxLength,
  metadataMaxPairs,
  metadataValueMaxLength,
  nameMaxLength,
  type Metadata,
  type SubAccount,
} from '../../domain/account.ts';
import { externalIdMaxLength, externalIdPattern } from '../../domain/external-id.ts';
import { displayName } from '../rest/display-name.ts';
import { closed, nullableText, nullableTimestamp, timestamp } from '../rest/typebox.ts';

const statuses = ['active', 'deactivated'] as const;

const externalId = {
  maxLength: externalIdMaxLength,
  pattern: externalIdPattern,
  description: 'visible ASCII characters without space and comma',
};

/** A sub-account in responses (spec section 2). */
export const subAccountBody = closed({
  id: Type.String(),
  name: Type.String(),
  external_id: nullableText(),
  status: Type.Enum([...statuses]),
  metadata: Type.Unsafe<Metadata>({ type: 'object', additionalProperties: { type: 'string' } }),
  created_at: timestamp,
  updated_at: timestamp,
  deactivated_at: nullableTimestamp,
});

/** The request to create one. */
export const createBody = closed({
  name: displayName('name', nameMaxLength),
  external_id: Type.Optional(nullableText(externalId)),
  metadata: Type.Optional(pairs<string>('string', metadataMaxPairs)),
});

/** The request to change one. */
export const updateBody = closed(
  {
    name: Type.Optional(displayName('name', nameMaxLength)),
    external_id: Type.Optional(nullableText(externalId)),
    // One request may remove every pair there is and add as many.
    metadata: Type.Optional(pairs<string | null>(['string', 'null'], 2 * metadataMaxPairs)),
    status: Type.Optional(
      Type.Unsafe<never>({ not: {}, description: 'changes by POST to …/deactivate and …/reactivate alone.' }),
    ),
  },
  { minProperties: 1 },
);

/** Filters of the list. */
export const listFilters = {
  status: Type.Optional(Type.Enum([...statuses])),
  external_id: Type.Optional(Type.String(externalId)),
};

/** Writes a sub-account. */
export function subAccountToBody(account: SubAccount): Static<typeof subAccountBody> {
  return {
    id: account.id,
    name: account.name,
    external_id: account.externalId,
    status: account.status,
    metadata: account.metadata,
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
