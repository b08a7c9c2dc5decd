-- Accounts (parents and their sub-accounts), their plans and API keys. The tables check what a row may hold, so no bug,
-- script or second version of the gateway can leave a state that the code does not know.

-- A plan is a named set of limits that parent accounts share.
create table plan (
  name text collate "C" primary key constraint plan_name check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  max_sub_accounts int,
  max_api_keys int,
  requests_per_second int,
  burst int,
  requests_per_minute int,
  requests_per_day bigint,
  requests_per_month bigint,
  units_per_month bigint,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint plan_max check (max_sub_accounts >= 0 and max_api_keys >= 0),
  constraint plan_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_minute > 0 and requests_per_day > 0 and requests_per_month > 0
    and units_per_month > 0 and (burst is null or requests_per_second is not null)
  )
);

create table account (
  -- The nil UUID stands for "no parent". A descending list starts at the highest UUID, so no account may have that id
  -- either.
  id uuid primary key constraint account_id check (
    id not in ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  ),
  parent_id uuid references account (id),
  name text not null constraint account_name check (char_length(name) between 1 and 256),
  external_id text collate "C" constraint account_external_id check (external_id ~ '^[!-+\--~]{1,255}$'),
  status text not null,
  metadata jsonb not null default '{}' constraint account_metadata check (jsonb_typeof(metadata) = 'object'),
  -- Only a parent has these counts. The first one includes deactivated sub-accounts.
  sub_accounts int,
  active_sub_accounts int,
  -- Whole milliseconds, so that clients read what is stored.
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deactivated_at timestamptz(3),
  -- A deleted account keeps its row, so that its id is never given again and its usage still adds up. The row also keeps
  -- the status `deactivated` or `suspended`.
  deleted_at timestamptz(3),
  plan text collate "C" references plan (name),
  -- Columns for which the account has no limit, whatever its plan says. Such a column is null.
  unlimited text[] not null default '{}',
  -- A parent's own maximum numbers, which override those of its plan and the configured ones.
  max_sub_accounts int,
  max_api_keys int,
  requests_per_second int,
  burst int,
  requests_per_minute int,
  requests_per_day bigint,
  requests_per_month bigint,
  units_per_month bigint,
  constraint account_kind check (
    case when parent_id is null
      then status in ('active', 'suspended') and deactivated_at is null
        and sub_accounts is not null and active_sub_accounts is not null
      else status in ('active', 'deactivated') and (status = 'deactivated') = (deactivated_at is not null)
        and sub_accounts is null and active_sub_accounts is null
    end
  ),
  constraint account_counts check (0 <= active_sub_accounts and active_sub_accounts <= sub_accounts),
  constraint account_deleted check (
    deleted_at is null or status <> 'active' and external_id is null and metadata = '{}'
  ),
  constraint account_plan check (parent_id is null or plan is null and unlimited = '{}'),
  constraint account_max check (
    case when parent_id is null then max_sub_accounts >= 0 and max_api_keys >= 0
      else max_sub_accounts is null and max_api_keys is null end
  ),
  constraint account_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_minute > 0 and requests_per_day > 0 and requests_per_month > 0
    and units_per_month > 0 and (burst is null or requests_per_second is not null)
  ),
  constraint account_unlimited check (
    unlimited <@ array[
      'max_sub_accounts', 'max_api_keys', 'requests_per_second', 'requests_per_minute', 'requests_per_day',
      'requests_per_month', 'units_per_month'
    ]
    and (max_sub_accounts is null or 'max_sub_accounts' <> all (unlimited))
    and (max_api_keys is null or 'max_api_keys' <> all (unlimited))
    and (requests_per_second is null or 'requests_per_second' <> all (unlimited))
    and (requests_per_minute is null or 'requests_per_minute' <> all (unlimited))
    and (requests_per_day is null or 'requests_per_day' <> all (unlimited))
    and (requests_per_month is null or 'requests_per_month' <> all (unlimited))
    and (units_per_month is null or 'units_per_month' <> all (unlimited))
  )
) with (fillfactor = 90);

-- Lists are read backwards along these, from the account after which a page starts. Ids chosen by operators do not sort
-- by time, so lists cannot be sorted by id alone.
create index account_listed_parents on account (created_at, id) where parent_id is null and deleted_at is null;
create index account_listed_subs on account (parent_id, created_at, id) where parent_id is not null and deleted_at is null;
create index account_listed_by_plan on account (plan, created_at, id) where plan is not null;
-- All accounts in the order of their ids, for exports and erasures.
create index account_parents on account (id) where parent_id is null;
create index account_of_parent on account (parent_id, id) where parent_id is not null;
create unique index account_external_id_once on account (parent_id, external_id) where external_id is not null;
create unique index account_parent_external_id_once on account (external_id) where parent_id is null and external_id is not null;

create table api_key (
  id uuid primary key,
  account_id uuid not null references account (id),
  name text not null constraint api_key_name check (char_length(name) between 1 and 256),
  scopes text[] not null constraint api_key_scopes check (
    cardinality(scopes) <= 50 and array_position(scopes, null) is null and array_position(scopes, '') is null
    and array_to_string(scopes, ',') ~ '^([A-Za-z0-9_.*:-]{1,100}(,|$))*$'
  ),
  -- SHA-256 of the key. Neither the key nor its client secret is stored.
  digest bytea not null unique constraint api_key_digest check (octet_length(digest) = 32),
  -- This column, `prefix` and `last4` may be null for imported keys: these have no client secret, and the characters
  -- that let people recognise a key may be unknown if it is imported by its digest.
  client_secret_digest bytea constraint api_key_client_secret_digest check (octet_length(client_secret_digest) = 32),
  prefix text constraint api_key_prefix check (char_length(prefix) between 1 and 16),
  last4 text constraint api_key_last4 check (char_length(last4) = 4),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  rotated_from uuid,
  requests_per_second int,
  burst int,
  requests_per_minute int,
  -- Id under which requests with this key count towards limits; the key's own id if null. A rotated key has the same id
  -- as the key that it replaced, so the requests of both are counted together.
  limit_id uuid,
  -- For an imported key: `keys.prefix` at the time of the import, or the key's own prefix if the key comes from another
  -- gateway. While `keys.prefix` has this value, the gateway does not reject the key as mistyped.
  imported_under text,
  constraint api_key_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_minute > 0 and (burst is null or requests_per_second is not null)
  )
) with (fillfactor = 90);

create index api_key_of_account on api_key (account_id, id);
create index api_key_ended on api_key (least(revoked_at, expires_at)) where least(revoked_at, expires_at) is not null;
create index api_key_of_account_unrevoked on api_key (account_id) where revoked_at is null;

-- Results of requests with an Idempotency-Key. A result is stored in the transaction of its change, so a writer that
-- dies leaves either both or neither.
create table idempotency (
  -- The API key that called; the nil UUID stands for the operator.
  caller_key_id uuid not null,
  -- SHA-256 of the Idempotency-Key, and of the request it came with.
  key bytea not null constraint idempotency_key check (octet_length(key) = 32),
  fingerprint bytea not null constraint idempotency_fingerprint check (octet_length(fingerprint) = 32),
  at timestamptz not null default now(),
  -- The record that was made or changed, as it was then and without secrets; null if the request is simply run again.
  made jsonb,
  primary key (caller_key_id, key)
);
create index idempotency_at on idempotency (at);
