import type { Subject } from '../types.ts';

/** What `metadata` means where it is merged into existing pairs. */
export const mergedPairs =
  'The caller’s own pairs of texts, merged into the existing ones: a text sets a pair, `null` removes it, other pairs stay. The result has at most 16 pairs.';

/** Texts of members and parameters that several subjects have. */
export const shared: Subject = {
  members: {
    'query.account_id': 'Only rows about this account.',
    'query.cursor': '`next_cursor` of the previous page. It is valid only for the same list and filters.',
    'query.external_id': 'Only the one with this `external_id`.',
    'query.from':
      'The start of the period, inclusive: an RFC 3339 date or date-time. Usage reports round it down to the hour, and start with this month unless it is given.',
    'query.limit': 'How many rows a page has at most; 50 unless given.',
    'query.near':
      'Only those that have used at least this part of a quota, `requests_per_day`, `requests_per_month` or `units_per_month`, 0 to 1. A parent is also listed if one of its sub-accounts has.',
    'query.plan': 'Only accounts with this plan.',
    'query.status': 'Only those in this state.',
    'query.sub_account_id':
      'Only rows about this sub-account. A list of parent accounts has only its parent.',
    'query.to':
      'The end of the period, exclusive: an RFC 3339 date or date-time. Usage reports round it up to the hour, and end now unless it is given.',
    account: 'The account.',
    account_id: 'The parent account.',
    active_sub_accounts:
      'How many sub-accounts are active. If there is one, proxied writes need the acting header.',
    api_key: 'The API key. It is a secret; keep it now, it is never shown again.',
    api_key_id:
      'The key; present if rows are by key. The nil UUID, `00000000-0000-0000-0000-000000000000`, in the row that keys share if an account is used with more keys in an hour than have rows of their own (200, unless the gateway is configured otherwise).',
    burst:
      'How many requests may come at once after a pause; `null` for as many as in one second. Needs `requests_per_second`.',
    client_secret: 'The client secret. It is never shown again, and no call of the gateway asks for it.',
    created_at: 'When it was created.',
    data: 'The rows.',
    expires_at: 'When the key expires, RFC 3339; `null` for never.',
    external_id: 'The caller’s own name for it, unique among its kind; `null` for none.',
    has_more: 'Whether there is another page.',
    id: 'Its UUID.',
    last4: 'The last four characters of the key; `null` if they are not known.',
    last_used_at: 'When the key was last used, to about a minute; `null` if it never was.',
    limits:
      'How many requests it may send, over all replicas. A change keeps the limits that it does not name; `null` removes a limit.',
    max_api_keys:
      'How many active keys an account and each of its sub-accounts may have; `null` for the number of the plan or, without one, of the configuration.',
    max_sub_accounts:
      'How many sub-accounts an account may have, deactivated ones included; `null` for the number of the plan or, without one, of the configuration.',
    metadata: 'The caller’s own pairs of texts.',
    name: 'A name for people, with at least one visible character and no control characters.',
    next_cursor: 'The `cursor` of the next page; `null` on the last one.',
    plan: 'The name of its plan; `null` for none.',
    prefix: 'The first characters of the key; `null` if they are not known.',
    q: 'Only those whose names start with this text, in upper or lower case.',
    requests_per_day: 'How many requests in a day (UTC); `null` for no limit. Keys have none.',
    requests_per_minute: 'How many requests a minute; `null` for no limit.',
    requests_per_month:
      'How many requests in a calendar month, UTC; `null` for no limit. Keys have no such limit.',
    requests_per_second: 'How many requests a second, on average; `null` for no limit.',
    revoked_at: 'When the key was revoked; `null` if it was not.',
    rotated_from: 'The key that a rotation replaced by this one; `null` if this one was minted or imported.',
    scopes: 'What the key may do: opaque texts, compared exactly.',
    status: 'Its state.',
    sub_account_id: 'The sub-account; `null` or absent for the parent itself.',
    unit: 'What the limit counts: requests, or units that responses state (`usage.units_header`).',
    units_per_month:
      'How many units in a calendar month, UTC; `null` for no limit. Responses say what their requests were worth (`usage.units_header`), so a request is admitted as long as a unit is left. Keys have no such limit.',
    updated_at: 'When it was changed last.',
  },
};
