import { Type } from 'typebox';
import { parseGivenId, type AccountId } from '../../domain/ids.ts';
import { invalidField } from '../../http/invalid-request.ts';

/** The id that an operator may give to a new account, in a body. */
export const givenId = Type.Optional(Type.String({ maxLength: 36 }));

/**
 * Reads it, as members of the account to be created; none where the gateway is to choose.
 *
 * @throws ProblemError `invalid_request` where it may be no account's
 */
export function readGivenId(
  text: string | undefined,
): { readonly id: AccountId; readonly idGiven: true } | undefined {
  if (text === undefined) return undefined;
  const id = parseGivenId(text);
  if (id === undefined) throw invalidField('/id', 'must be a UUID, and neither the nil nor the max one.');
  return { id, idGiven: true };
}
