import { isExternalId } from './external-id.ts';
import { parseAccountId, type AccountId } from './ids.ts';

/** The acting header as the client sent it, before it is checked what it means for this caller. */
export type ActingHeader =
  | { readonly form: 'absent' }
  | { readonly form: 'self' }
  | { readonly form: 'uuid'; readonly id: AccountId }
  | { readonly form: 'external-id'; readonly externalId: string }
  | { readonly form: 'malformed'; readonly reason: string };

const absent: ActingHeader = { form: 'absent' };
const self: ActingHeader = { form: 'self' };

/**
 * Reads the acting header (spec section 4, "Acting header").
 *
 * @param values every value of the header in the raw header list: proxies and parsers join or drop
 *   repeated headers, and which one they keep must not decide who a request acts as
 */
export function readActingHeader(values: readonly string[]): ActingHeader {
  const value = values[0];
  if (value === undefined) return absent;
  if (values.length > 1) return malformed('It was sent more than once.');
  if (value === 'self') return self;
  if (value === '') return malformed('It is empty.');
  if (value.startsWith('ext:')) {
    const externalId = value.slice('ext:'.length);
    return isExternalId(externalId)
      ? { form: 'external-id', externalId }
      : malformed('What follows `ext:` is not an external_id.');
  }
  const id = parseAccountId(value);
  return id === undefined ? malformed('It has none of the three forms.') : { form: 'uuid', id };
}

function malformed(reason: string): ActingHeader {
  return { form: 'malformed', reason };
}
