-- Accounts (parents and their sub-accounts) and API keys. What a row may hold is decided here as well as in the code,
-- so that no bug, script or second version of the gateway can leave a state the code does not know.

create table account (
  id uuid primary key,
  parent_id uuid references account (id),
  name text not null constraint account_name check (char_length(name) between 1 and 256),
  external_id text collate "C" constraint account_external_id check (external_id ~ '^[!-+\--~]{1,255}$'),
  status text not null,
  metadata jsonb not null default '{}',
  -- Only a parent counts, deactivated ones included in the first.
  sub_accounts int,
  active_sub_accounts int,
  -- Whole milliseconds: what a client reads is what is stored.
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deactivated_at timestamptz(3),
  constraint account_kind check (
    case when parent_id is null
      then status in ('active', 'suspended') and external_id is null and metadata = '{}' and deactivated_at is null
        and sub_accounts is not null and active_sub_accounts is not null
      else status in ('active', 'deactivated') and (status = 'deactivated') = (deactivated_at is not null)
        and sub_accounts is null and active_sub_accounts is null
    end
  ),
  constraint account_counts check (0 <= active_sub_accounts and active_sub_accounts <= sub_accounts),
  constraint account_metadata check (jsonb_typeof(metadata) = 'object')
) with (fillfactor = 90);

-- Every list is read backwards along one of these, from the id after which a page starts (ids are UUIDv7).
create index account_parents on account (id) where parent_id is null;
create index account_of_parent on account (parent_id, id) where parent_id is not null;
create index account_of_parent_by_status on account (parent_id, status, id) where parent_id is not null;
create unique index account_external_id_once on account (parent_id, external_id) where external_id is not null;

-- A tree of two levels, for good: a foreign key alone would allow grandchildren.
create function account_check_parent() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    raise integrity_constraint_violation using message = 'an account keeps its parent', constraint = 'account_parent';
  end if;
  perform from account where id = new.parent_id and parent_id is null;
  if not found then
    raise integrity_constraint_violation
      using message = 'the parent of a sub-account is a parent account', constraint = 'account_parent';
  end if;
  return new;
end $$;

create trigger account_parent_on_insert before insert on account
  for each row when (new.parent_id is not null) execute function account_check_parent();
create trigger account_parent_on_update before update of parent_id on account
  for each row when (new.parent_id is distinct from old.parent_id) execute function account_check_parent();

create table api_key (
  id uuid primary key,
  account_id uuid not null references account (id),
  name text not null constraint api_key_name check (char_length(name) between 1 and 256),
  scopes text[] not null constraint api_key_scopes check (
    cardinality(scopes) <= 50 and array_position(scopes, null) is null and array_position(scopes, '') is null
    and array_to_string(scopes, ',') ~ '^([A-Za-z0-9_.*:-]{1,100}(,|$))*$'
  ),
  -- SHA-256 of what the caller holds; the secrets themselves are nowhere.
  digest bytea not null unique constraint api_key_digest check (octet_length(digest) = 32),
  client_secret_digest bytea not null
    constraint api_key_client_secret_digest check (octet_length(client_secret_digest) = 32),
  prefix text not null constraint api_key_prefix check (char_length(prefix) between 1 and 16),
  last4 text not null constraint api_key_last4 check (char_length(last4) = 4),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
) with (fillfactor = 90);

create index api_key_of_account on api_key (account_id, id);
create index api_key_of_account_unrevoked on api_key (account_id) where revoked_at is null;
