-- Usage by hour and by day, and its export to a billing system. No table has a foreign key: counts of an account that a
-- restored backup lacks must not be rejected for ever.

create table usage_hourly (
  -- Parent of the account, or the account itself if it is a parent.
  root_id uuid not null,
  account_id uuid not null,
  hour timestamptz(0) not null constraint usage_hour check (date_trunc('hour', hour, 'UTC') = hour),
  key_id uuid not null,
  requests bigint not null check (requests >= 0),
  reads bigint not null check (reads >= 0),
  writes bigint not null check (writes >= 0),
  client_errors bigint not null check (client_errors >= 0),
  server_errors bigint not null check (server_errors >= 0),
  bytes_in bigint not null check (bytes_in >= 0),
  bytes_out bigint not null check (bytes_out >= 0),
  -- What responses say that their requests were worth (`usage.units_header`).
  units bigint not null default 0,
  primary key (root_id, account_id, hour, key_id)
) with (fillfactor = 80);
create index usage_hourly_of_root on usage_hourly (root_id, hour);

-- Daily usage. Reports over months read up to 24 times fewer daily rows than hourly ones, and hourly rows can be
-- deleted. `usage_roll_up` rolls up the hourly rows of past days, a portion at a time, while the gateway runs. If those
-- hourly rows change later, the trigger `usage_hourly_changed` updates the daily rows as well.
create table usage_daily (
  root_id uuid not null,
  account_id uuid not null,
  -- UTC
  day date not null,
  key_id uuid not null,
  -- These columns have no checks. If someone edited a row by hand, a check could reject all usage that is added to the
  -- row later.
  requests bigint not null,
  reads bigint not null,
  writes bigint not null,
  client_errors bigint not null,
  server_errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  units bigint not null default 0,
  primary key (root_id, account_id, day, key_id)
) with (fillfactor = 80);
create index usage_daily_by_day on usage_daily (day);

-- One row: the periods for which usage is stored. A report reads this row and the daily rows in one snapshot. For days
-- that have not been rolled up yet, the report reads hourly rows.
create table usage_kept (
  one boolean primary key default true check (one),
  -- Hourly rows from before this time have been deleted; the daily rows are kept.
  hours_from timestamptz(0) not null default '-infinity',
  -- Daily rows from before this day have been deleted.
  days_from date not null default '-infinity',
  -- Days before this one have been rolled up for all accounts.
  rolled_until date not null default '-infinity',
  -- Equal to `rolled_until` while nothing is being rolled up. Otherwise, the days from `rolled_until` (inclusive) to
  -- `rolling_until` (exclusive) are being rolled up, one account after another in primary key order. The last account
  -- that is done is (`root_id`, `account_id`).
  rolling_until date not null default '-infinity',
  root_id uuid not null default '00000000-0000-0000-0000-000000000000',
  account_id uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into usage_kept default values;

-- Each process has its own usage journal, whose numbered rows the store adds in order. For each journal, this table
-- records how far its rows have been added. So rows that are sent again change nothing, whether the process itself
-- sends them or another process replays its journal.
create table usage_journal (
  id text primary key,
  -- Rows with numbers below this one have been added.
  position bigint not null default 0,
  -- All of the journal's counts from before this time have been added; `infinity` once the journal has ended.
  through timestamptz not null,
  at timestamptz not null default now(),
  -- Name of the machine or pod on which the journal's process runs.
  host text,
  -- True if an operator told reports to stop waiting for the journal's counts (`usage_forget`). It becomes false again
  -- when the journal's next batch arrives.
  forgotten boolean not null default false,
  -- The database went back in time, for example to a backup, and lost counts that it had: from between these times.
  lost_from timestamptz,
  lost_until timestamptz
);

-- Counts in one row of a batch.
create type usage_counted as (
  account_id uuid,
  -- Parent of the account, or the account itself if it is a parent.
  root_id uuid,
  key_id uuid,
  hour timestamptz,
  last_used timestamptz,
  requests bigint,
  reads bigint,
  writes bigint,
  client_errors bigint,
  server_errors bigint,
  bytes_in bigint,
  bytes_out bigint,
  units bigint,
  -- Writes without the acting header.
  writes_by_default bigint,
  last_by_default timestamptz
);

-- Id of this store. A process that finds a journal written for another store must not replay it here.
create table usage_store (id uuid not null default gen_random_uuid());
insert into usage_store default values;

-- Number of writes that a parent made without the acting header, by API key and day. Such writes will be rejected once
-- the parent has an active sub-account. They are added in the same transaction as their batch's usage, so each counts
-- once.
--
-- Only the last nine days are read, so a key has at most nine rows: each day overwrites the one nine days earlier.
create table write_by_default (
  account_id uuid not null,
  key_id uuid not null,
  slot smallint not null check (slot between 0 and 8),
  -- UTC
  day date not null,
  requests bigint not null check (requests >= 0),
  last_at timestamptz not null,
  primary key (account_id, key_id, slot)
) with (fillfactor = 80);

-- One row: the time since which writes without the acting header have been counted.
create table write_by_default_from (
  one boolean primary key default true check (one),
  counted_from timestamptz not null default now()
);
insert into write_by_default_from default values;

-- Usage is exported to a billing system hour by hour. An hour is closed before the export reads it, and later changes
-- to the hour are noted in `usage_late`. So every export of the same hour has the same counts. Late counts are exported
-- as separate corrections. A correction never changes after it has been numbered.

-- One row: the progress of the export. No hour is closed before the export has begun.
create table usage_export (
  one boolean primary key default true check (one),
  -- Hours before this time are closed.
  closed_until timestamptz(0) not null default '-infinity',
  -- First hour that is exported automatically.
  began timestamptz(0),
  -- Next hour to export. `after_account` is the last account exported for that hour; null if none has been exported.
  hour timestamptz(0),
  after_account uuid,
  -- Corrections up to this number have been exported.
  corrections bigint not null default 0,
  -- Replica that holds the export lock. The lock expires at `held_until`.
  holder uuid,
  held_until timestamptz not null default '-infinity'
);
insert into usage_export default values;

create sequence usage_late_number;

-- Late changes to closed hours. Counts are negative if usage was removed from the hour.
create table usage_late (
  root_id uuid not null,
  account_id uuid not null,
  hour timestamptz(0) not null,
  -- 0 as long as late changes may be added to the row. The next export makes the row a correction: it sets `number` to
  -- the number of the correction, and nothing is added to the row any more.
  number bigint not null default 0,
  -- Id of the correction. Its number cannot serve as the id, because numbers repeat after a backup is restored.
  id uuid not null default gen_random_uuid(),
  requests bigint not null,
  reads bigint not null,
  writes bigint not null,
  client_errors bigint not null,
  server_errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  units bigint not null default 0,
  primary key (account_id, hour, number)
);
create unique index usage_late_by_number on usage_late (number) where number > 0;
