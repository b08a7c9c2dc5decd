-- compatible with: 6
-- locks for a moment: account
-- A plan is a named set of limits that parent accounts share. Replicas of 0.2.0 do not know plans; a change that needs
-- them fails while such a replica is registered (`fleet_require`).

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

-- The accounts of each plan, in listing order. Triggers keep this table in sync with `account`. It is a table rather
-- than an index, because building an index on `account` would block writes to it. A plan with accounts cannot be
-- deleted.
create table plan_account (
  plan text collate "C" not null references plan (name),
  created_at timestamptz(3) not null,
  account_id uuid not null,
  primary key (plan, created_at, account_id)
);

-- `unlimited` names the columns for which the account has no limit, whatever its plan says. Such a column is null.
alter table account
  add column plan text collate "C",
  add column unlimited text[] not null default '{}',
  add column units_per_month bigint,
  add constraint account_units check (units_per_month > 0) not valid,
  add constraint account_plan check (parent_id is null or plan is null and unlimited = '{}') not valid,
  add constraint account_unlimited check (
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
  ) not valid;
