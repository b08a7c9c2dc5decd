import { parseAccountId, type AccountId } from '../../domain/ids.ts';
import { invalidField } from '../../http/invalid-request.ts';

/** Reads an optional id in a query. @throws ProblemError `invalid_request` if it is not a UUID */
export function queryId<Id extends string = AccountId>(
  name: string,
  text: string | undefined,
): Id | undefined {
  const id = text === undefined ? undefined : parseAccountId(text);
  if (text !== undefined && id === undefined) throw invalidField(`?${name}`, 'must be a UUID.');
  return id as Id | undefined;
}
