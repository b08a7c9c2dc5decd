/** One example a schema, all of one world: Acme Freight, its sub-account Ada Logistics, and their keys. */
const account = '0197b7e0-4c9d-7a31-9d6e-2f6b8f7a1c11';
const subAccount = '0197b7e1-0f52-7c44-8a90-7b1d3c5e9f02';
const accountKey = '0197b7e0-9a3b-7d20-b1c4-5e8f6a7d9c33';
const subAccountKey = '0197b7e2-3c61-7e55-92a1-8c2e4d6f0a13';
const newKey = '0197b7e3-51aa-7f66-83b2-9d3f5e7a1b24';
const event = '019a0f3e-6c1d-7a40-8000-05c1d2e3f4a5';
const created = '2026-03-01T09:00:00.000Z';
const later = '2026-03-01T09:30:00.125Z';
const digest = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const lastPage = { has_more: false, next_cursor: null };

const noLimits = {
  requests_per_second: null,
  burst: null,
  requests_per_minute: null,
  requests_per_day: null,
  requests_per_month: null,
};

const ada = {
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
  },
  created_at: created,
  updated_at: created,
  deactivated_at: null,
};

const acme = {
  id: account,
  name: 'Acme Freight',
  external_id: 'cus_42',
  status: 'active',
  metadata: { plan: 'gold' },
  active_sub_accounts: 1,
  max_sub_accounts: null,
  max_api_keys: null,
  limits: noLimits,
  created_at: created,
  updated_at: created,
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
const subKey = { id: subAccountKey, sub_account_id: subAccount, ...key };
const parentKey = {
  id: accountKey,
  account_id: account,
  ...key,
  name: 'production',
  scopes: ['sub_accounts:read', 'sub_accounts:write'],
  last_used_at: later,
};
const heldKey = {
  ...parentKey,
  account: { id: account, name: 'Acme Freight', status: 'active', external_id: 'cus_42' },
  parent: null,
};
const secrets = {
  api_key: 'tgw_<the key, shown once>',
  client_secret: 'tgs_<the client secret, shown once>',
};

const changed = {
  id: event,
  type: 'sub_account.updated',
  created_at: later,
  account_id: account,
  sub_account_id: subAccount,
  actor: { kind: 'api_key', key_id: accountKey, name: 'production' },
  request_id: '9f86d081884c7d659a2feaa0c55ad015',
  address: '203.0.113.9',
  data: { object: { ...ada, updated_at: later }, previous: { name: 'Ada' } },
};

const counts = {
  requests: 1200,
  reads: 1000,
  writes: 200,
  client_errors: 12,
  server_errors: 0,
  bytes_in: 48000,
  bytes_out: 960000,
};
const report = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-02T00:00:00.000Z',
  granularity: 'total',
  group_by: 'sub_account',
  complete_through: '2026-03-02T00:00:00.000Z',
  incomplete: false,
};
const row = { sub_account_id: subAccount, external_id: 'ada', name: 'Ada Logistics' };
const counted = { period_start: report.from, ...counts };

const decision = {
  decision: 'permit',
  resolved_tenant: subAccount,
  reason: 'sub-account',
  problem: null,
};

const creation = { name: 'Ada Logistics', external_id: 'ada', metadata: { tier: '1' } };
const importedKey = { sha256: digest, name: 'Warehouse', scopes: ['orders:read'] };

/** By the names of schemas, for both documents. */
const sharedExamples: Readonly<Record<string, unknown>> = {
  SubAccount: ada,
  SubAccountList: { data: [ada], ...lastPage },
  MintApiKey: { name: 'Warehouse', scopes: ['tracking:read', 'tracking:write'] },
  UpdateApiKey: { name: 'Warehouse North', expires_at: '2099-01-01T00:00:00Z' },
  RotateApiKey: { expires_in: 86_400 },
  Event: changed,
  EventList: { data: [changed], ...lastPage },
  RevokedApiKeys: { revoked: 12 },
};

/** Those of the document for parents. */
export const parentExamples: Readonly<Record<string, unknown>> = {
  ...sharedExamples,
  CreateSubAccount: creation,
  UpdateSubAccount: { name: 'Ada Logistics Ltd', metadata: { tier: '2' } },
  PutSubAccount: { name: 'Ada Logistics', metadata: { tier: '1' } },
  ApiKey: subKey,
  ApiKeyList: { data: [subKey], ...lastPage },
  MintedApiKey: { ...subKey, ...secrets },
  Caller: {
    account: {
      id: account,
      name: 'Acme Freight',
      external_id: 'cus_42',
      limits: noLimits,
      created_at: created,
      updated_at: created,
    },
    api_key: parentKey,
    active_sub_accounts: 1,
  },
  UsageReport: { ...report, data: [{ ...row, ...counted }], ...lastPage },
  ActingDecision: decision,
  Onboarding: {
    since: '2026-02-22T00:00:00.000Z',
    data: [{ api_key_id: accountKey, name: 'production', requests: 17, last_at: later }],
  },
};

/** Those of the document for operators. */
export const operatorExamples: Readonly<Record<string, unknown>> = {
  UpdateSubAccount: parentExamples['UpdateSubAccount'],
  ...sharedExamples,
  CreateAccount: { name: 'Acme Freight', external_id: 'cus_42', metadata: { plan: 'gold' } },
  UpdateAccount: { name: 'Acme Freight Ltd', max_sub_accounts: 500 },
  Account: acme,
  AccountList: { data: [acme], ...lastPage },
  CreateAccountSubAccount: creation,
  ApiKey: parentKey,
  ApiKeyList: { data: [parentKey], ...lastPage },
  MintedApiKey: { ...parentKey, ...secrets },
  HeldApiKey: heldKey,
  HeldApiKeyList: { data: [heldKey], ...lastPage },
  RotatedApiKey: { ...heldKey, id: newKey, rotated_from: accountKey, ...secrets },
  UsageReport: { ...report, silent: [], data: [{ account_id: account, ...row, ...counted }], ...lastPage },
  ExportUsage: { from: '2026-03-01', to: '2026-03-02', dry_run: true },
  ExportedUsage: {
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-03-02T00:00:00.000Z',
    sent: false,
    data: [],
    rejected: [],
    ...lastPage,
  },
  ForgetUsage: { replica: 'tenancy-gateway-6c9f7d5b8-x2x9q' },
  ForgottenUsage: { replica: 'tenancy-gateway-6c9f7d5b8-x2x9q', forgotten: 1 },
  ImportAccounts: { accounts: [{ external_id: 'cus_42', name: 'Acme Freight' }], plan: true },
  ImportSubAccounts: {
    sub_accounts: [{ account_external_id: 'cus_42', external_id: 'ada', name: 'Ada Logistics' }],
  },
  ImportApiKeys: { keys: [{ account_external_id: 'cus_42', ...importedKey }] },
  ImportedRows: {
    created: 1,
    updated: 0,
    unchanged: 0,
    rejected: 0,
    data: [{ outcome: 'created', id: account, code: null, detail: null }],
  },
  ImportAccountApiKeys: { keys: [importedKey] },
  ImportedApiKeys: { imported: 1, existing: 0, data: [parentKey] },
  ExplainRequest: {
    key_id: accountKey,
    method: 'POST',
    path: '/v1/shipments',
    acting_tenant: 'ext:ada',
  },
  Explanation: {
    allowed: true,
    acts_as: subAccount,
    because: 'The acting header names an active sub-account of the caller.',
    status: null,
    request: { method: 'POST', path: '/v1/shipments', route: '/' },
    caller: {
      kind: 'parent',
      account_id: account,
      parent_id: null,
      key_id: accountKey,
      scopes: ['sub_accounts:read', 'sub_accounts:write'],
    },
    limits: [{ limited: 'sub_account', per: 'second', quota: 200, window_s: 2, remaining: 199, reset_s: 1 }],
    ...decision,
  },
  ReplicaList: {
    position: 42,
    incarnation: '7412345678901234567:1:0',
    complete: true,
    data: [
      {
        id: '5f6d2f0e-52b5-4f0e-9a59-0b7f6e2f9a10',
        host: 'gateway-0',
        self: true,
        state: 'live',
        version: '0.1.0',
        lease_ms: 3000,
        lease_age_ms: 412,
        clock_offset_ms: 3,
        applied: 42,
        lag: 0,
      },
    ],
    silent: [
      {
        id: '0d0f4a52-53a4-4b39-a5f7-1de7a1a4c0f9',
        host: 'gateway-1',
        last_seen: '2026-03-01T09:30:00.000Z',
        through: '2026-03-01T09:29:58.000Z',
        given_up: false,
      },
    ],
  },
  Operator: {
    operator: 'operator',
    version: '0.1.0',
    replica_id: '5f6d2f0e-52b5-4f0e-9a59-0b7f6e2f9a10',
  },
};
