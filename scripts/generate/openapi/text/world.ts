/** Acme Freight, the parent account of the examples. */
export const account = '0197b7e0-4c9d-7a31-9d6e-2f6b8f7a1c11';

/** Ada Logistics, its sub-account. */
export const subAccount = '0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02';

/** The key of Acme Freight. */
export const accountKey = '0197b7e0-9a3b-7d20-b1c4-5e8f6a7d9c33';

/** The time at which both accounts and their keys were made. */
export const created = '2026-03-01T09:00:00.000Z';

/** A later time. */
export const later = '2026-03-01T09:30:00.125Z';

/** The end of a list. */
export const lastPage = { has_more: false, next_cursor: null };

/** The limits of an account or key without any. */
export const noLimits = {
  requests_per_second: null,
  burst: null,
  requests_per_minute: null,
  requests_per_day: null,
  requests_per_month: null,
  units_per_month: null,
};

/** A plan in responses. */
export const gold = {
  name: 'gold',
  limits: {
    requests_per_second: 100,
    burst: 200,
    requests_per_minute: null,
    requests_per_day: null,
    requests_per_month: 10_000_000,
    units_per_month: null,
  },
  max_sub_accounts: 500,
  max_api_keys: null,
  created_at: created,
  updated_at: created,
};

/** Ada Logistics in responses. */
export const ada = {
  id: subAccount,
  name: 'Ada Logistics',
  external_id: 'ada',
  status: 'active',
  metadata: { tier: '1' },
  limits: {
    requests_per_second: 100,
    burst: 200,
    requests_per_minute: null,
    requests_per_day: 50_000,
    requests_per_month: 1_000_000,
    units_per_month: null,
  },
  created_at: created,
  updated_at: created,
  deactivated_at: null,
};

const key = {
  name: 'Warehouse',
  scopes: ['tracking:read', 'tracking:write'],
  prefix: 'tgw_1aB2',
  last4: 'x9Yz',
  status: 'active',
  created_at: created,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  rotated_from: null,
  limits: noLimits,
};

/** The key of Ada Logistics in responses. */
export const subKey = { id: '0197b7e2-3c61-7e55-92a1-8c2e4d6f0a13', sub_account_id: subAccount, ...key };

/** The key of Acme Freight in responses. */
export const parentKey = {
  id: accountKey,
  account_id: account,
  ...key,
  name: 'production',
  scopes: ['sub_accounts:read', 'sub_accounts:write'],
  last_used_at: later,
};

/** The secrets that a new key comes with. */
export const secrets = {
  api_key: 'tgw_<the key, shown once>',
  client_secret: 'tgs_<the client secret, shown once>',
};
