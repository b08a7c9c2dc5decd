-- compatible with: 6
-- locks for a moment: account
-- Lets operators give a parent an external_id, metadata and an id; adds account limits, and lets accounts be listed in
-- creation order. The new columns are empty, so adding them neither rewrites the table nor reads its rows.
--
-- Replicas of 0.1.0 read accounts as before: they know only their own version's columns, and cache a parent's
-- external_id without sending it to upstreams. They still list accounts by id, using the indexes from 0001. Only
-- replicas of 0.1.0 use `account_of_parent_by_status`.

-- Constraints are not validated, because that would read the whole table under the lock. Existing rows satisfy the
-- stricter constraint from 0001.
alter table account
  -- A parent's own maximum numbers, which override the configured ones. The database checks them. So they also apply to
  -- requests that replicas of 0.1.0 handle.
  add column max_sub_accounts int,
  add column max_api_keys int,
  -- Limits on an account's requests. Replicas of 0.1.0 cannot enforce these (`limits_begin`).
  add column requests_per_second int,
  add column burst int,
  add column requests_per_minute int,
  add column requests_per_day bigint,
  add column requests_per_month bigint,
  drop constraint account_kind,
  add constraint account_kind check (
    case when parent_id is null
      then status in ('active', 'suspended') and deactivated_at is null
        and sub_accounts is not null and active_sub_accounts is not null
      else status in ('active', 'deactivated') and (status = 'deactivated') = (deactivated_at is not null)
        and sub_accounts is null and active_sub_accounts is null
    end
  ) not valid,
  -- In the tables below, the nil UUID stands for "no parent". A descending list starts at the highest UUID, so no
  -- account may have that id either.
  add constraint account_id check (
    id not in ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  ) not valid,
  add constraint account_max check (
    case when parent_id is null then max_sub_accounts >= 0 and max_api_keys >= 0
      else max_sub_accounts is null and max_api_keys is null end
  ) not valid,
  add constraint account_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_minute > 0 and requests_per_day > 0 and requests_per_month > 0
    and (burst is null or requests_per_second is not null)
  ) not valid;

-- Keeps two parents from having the same external_id. This is a table rather than a unique index, because building an
-- index on `account` would block writes to it.
create table parent_external_id (
  external_id text collate "C" primary key,
  account_id uuid not null unique
);

-- Every account, in listing order. Ids chosen by operators do not sort by time, so lists cannot be sorted by id alone.
create table account_listed (
  -- Id of the parent; the nil UUID if the account is itself a parent.
  owner_id uuid not null,
  created_at timestamptz(3) not null,
  id uuid not null,
  primary key (owner_id, created_at, id)
);
