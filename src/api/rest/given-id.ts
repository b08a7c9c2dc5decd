import { Type } from 'typebox';
import { parseGivenId, type AccountId } from '../../domain/ids.ts';
import { invalidField } from '../../http/invalid-request.ts';

/** Id that an operator may choose for a new account. */
export const givenId = Type.Optional(Type.String({ maxLength: 36 }));

/**
 * Reads the id that the client chose for a new account. Returns `undefined` if the client chose no id. The gateway then
 * generates one.
 *
 * @throws ProblemError `invalid_request` if an account cannot have this id
 */
export function readGivenId(
  text: string | undefined,
): { readonly id: AccountId; readonly idGiven: true } | undefined {
  if (text === undefined) return undefined;
  const id = parseGivenId(text);
  if (id === undefined) throw invalidField('/id', 'must be a UUID, and neither the nil nor the max one.');
  return { id, idGiven: true };
}
