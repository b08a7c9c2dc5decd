-- compatible with: 6
-- Adds usage by the day, numbered rows of journals, the export of usage to a billing system, and counts of writes
-- without the acting header.

-- Usage by the day: reports over months read a thirtieth of the rows, and hours need not be kept for ever. Hours of days
-- that are over are added up in portions (`usage_roll_up`), while everything runs. A trigger adds later changes of these
-- hours (`usage_hourly_changed`).
create table usage_daily (
  -- As in `usage_hourly`.
  root_id uuid not null,
  account_id uuid not null,
  -- UTC
  day date not null,
  key_id uuid not null,
  -- These columns have no checks: a change by hand must not keep usage from being added.
  requests bigint not null,
  reads bigint not null,
  writes bigint not null,
  client_errors bigint not null,
  server_errors bigint not null,
  bytes_in bigint not null,
  bytes_out bigint not null,
  primary key (root_id, account_id, day, key_id)
) with (fillfactor = 80);
create index usage_daily_by_day on usage_daily (day);

-- One row: the extent of the stored usage. A report reads in one snapshot how far days have been added up, and the
-- days themselves; it reads hours if days are not there yet.
create table usage_kept (
  one boolean primary key default true check (one),
  -- Hours before this time were deleted; their days are still there.
  hours_from timestamptz(0) not null default '-infinity',
  -- Days before this one were deleted.
  days_from date not null default '-infinity',
  -- Days before this one are added up.
  rolled_until date not null default '-infinity',
  -- Later than `rolled_until` while days up to this one are being added up. They are done for accounts up to this
  -- one, in the order of the primary key.
  rolling_until date not null default '-infinity',
  root_id uuid not null default '00000000-0000-0000-0000-000000000000',
  account_id uuid not null default '00000000-0000-0000-0000-000000000000'
);
insert into usage_kept default values;

-- Usage comes in numbered rows: each process has its own journal, and its rows are added in order. The store
-- remembers one number for each journal, up to which its rows were added. So rows that are sent again change nothing,
-- whether by the process itself or by the process that replays a journal left behind.
create table usage_journal (
  id text primary key,
  -- Rows before this position were added.
  position bigint not null default 0,
  -- The journal has nothing left to add from before this time; `infinity` once it has ended.
  through timestamptz not null,
  at timestamptz not null default now(),
  -- Name of the machine or pod of its process.
  host text,
  -- An operator gave its counts up, until it is heard of again.
  forgotten boolean not null default false
);

-- Counts of one row of a batch.
create type usage_counted as (
  account_id uuid,
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
  -- Writes without the acting header.
  writes_by_default bigint,
  last_by_default timestamptz
);

-- Id of this store: a journal that was written for another store must not be replayed here.
create table usage_store (id uuid not null default gen_random_uuid());
insert into usage_store default values;

-- Writes without the acting header, by parent's key and day. Such writes will be rejected once the parent has a
-- sub-account. They come in the batches of usage, in the same transaction, so each counts once. Replicas of 0.1.0 do
-- not report them.
--
-- Only the last days are read, so a key has nine rows at most: each day replaces the one nine days before.
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

-- One row: the time since which these writes are counted.
create table write_by_default_from (
  one boolean primary key default true check (one),
  counted_from timestamptz not null default now()
);
insert into write_by_default_from default values;

-- Usage is exported to a billing system hour by hour. An hour is closed before the export reads it; later additions
-- and removals are noted in `usage_late`. So every export of an hour has the same counts. Late counts are exported as
-- separate corrections, which do not change either.

-- One row: the progress of the export. Until it has begun, no hour is closed.
create table usage_export (
  one boolean primary key default true check (one),
  -- Hours before this time are closed.
  closed_until timestamptz(0) not null default '-infinity',
  -- First hour that is exported automatically.
  began timestamptz(0),
  -- Next hour to export, and the last exported account in it; null at the beginning of the hour.
  hour timestamptz(0),
  after_account uuid,
  -- Corrections up to this number were exported.
  corrections bigint not null default 0,
  -- Replica that holds the export lock, and the time until which it holds it.
  holder uuid,
  held_until timestamptz not null default '-infinity'
);
insert into usage_export default values;

create sequence usage_late_number;

-- Late changes of closed hours. Counts may be negative, if something was taken from the hour.
create table usage_late (
  root_id uuid not null,
  account_id uuid not null,
  hour timestamptz(0) not null,
  -- 0 while more may be added to the row. After that, its number among the corrections, and the row no longer
  -- changes.
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
  primary key (account_id, hour, number)
);
create unique index usage_late_by_number on usage_late (number) where number > 0;
