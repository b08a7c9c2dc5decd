import type { TUnsafe } from 'typebox';
import { operatorRoles, type OperatorRole } from '../../domain/operator-role.ts';

/** Where an operator's token is, and what the operator may do. */
export interface OperatorEntry {
  readonly token_file: string;
  readonly role: OperatorRole;
}

/**
 * The setting `internal.admin_tokens`: a mapping from the names of operators to tokens or {@link OperatorEntry}. The
 * schema of a value is not a union, because validators would report a fault for each member of the union.
 */
export function operators(description: string, { examples }: { readonly examples: readonly unknown[] }) {
  const schema = {
    type: 'object',
    description,
    propertyNames: { type: 'string', format: 'operator-name' },
    additionalProperties: {
      type: ['string', 'object'],
      format: 'token',
      required: ['token_file', 'role'],
      properties: { token_file: { type: 'string', minLength: 1 }, role: { enum: [...operatorRoles] } },
      additionalProperties: false,
    },
    maxProperties: 1000,
    default: {},
    examples,
  };
  return schema as typeof schema & TUnsafe<Readonly<Record<string, string | OperatorEntry>>>;
}
