-- compatible with: 6
-- locks for a moment: account
-- Parents with an external_id, metadata and ids that the operator gives; limits of accounts; lists in the order of creation.
-- Columns that are empty at first take no rewrite and no look at the rows.
--
-- Replicas of 0.1.0 read accounts as before: they know the columns of theirs, and remember a parent's external_id without
-- sending it. They go on listing by id, along the indexes of 0001 (`account_of_parent_by_status` is for them alone now).

-- Constraints are not validated, since that would read the whole table under the lock: what is there has satisfied the
-- stricter one of 0001.
alter table account
  -- What a parent was given in place of the limits of the configuration. Looked at in the database, so that 0.1.0, whose
  -- configuration knows none of them, keeps them as well.
  add column max_sub_accounts int,
  add column max_api_keys int,
  -- What an account may send. Replicas of 0.1.0 cannot enforce these (`limits_begin`).
  add column requests_per_second int,
  add column burst int,
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
  -- The nil UUID stands for "no parent" below, the last one for the end of a list.
  add constraint account_id check (
    id not in ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  ) not valid,
  add constraint account_max check (
    case when parent_id is null then max_sub_accounts >= 0 and max_api_keys >= 0
      else max_sub_accounts is null and max_api_keys is null end
  ) not valid,
  add constraint account_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_month > 0
    and (burst is null or requests_per_second is not null)
  ) not valid;

-- An external_id belongs to one parent. A table, since an index on `account` would keep its writers out while it is built.
create table parent_external_id (
  external_id text collate "C" primary key,
  account_id uuid not null unique
);

-- Where every account stands in its list. Ids that operators give do not sort by time, so lists cannot go by id alone.
create table account_listed (
  -- The parent; the nil UUID for parents themselves.
  owner_id uuid not null,
  created_at timestamptz(3) not null,
  id uuid not null,
  primary key (owner_id, created_at, id)
);
