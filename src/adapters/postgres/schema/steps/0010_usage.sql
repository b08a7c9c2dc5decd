-- compatible with: 6
-- Usage by the day, in numbered rows of journals, and on its way to a billing system; writes without the acting header.

-- Usage by the day, so that reports over months read a thirtieth of the rows, and hours need not be kept for ever. Triggers
-- keep the days equal to their hours (`usage_hourly_changed`). Rows of hours that were there before are added up in portions
-- (`usage_roll_up`), while everything runs.
create table usage_daily (
  -- As in `usage_hourly`.
  root_id uuid not null,
  account_id uuid not null,
  -- UTC
  day date not null,
  key_id uuid not null,
  -- Without checks: a change by hand must not keep usage from being added.
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

-- One row: what there is of usage. How far days have been added up is read in the same snapshot as they are: a report reads
-- hours if days are not there yet. A step after the triggers fills it.
create table usage_kept (
  one boolean primary key default true check (one),
  -- Hours from before were deleted; their days are there.
  hours_from timestamptz(0) not null default '-infinity',
  -- Days from before were deleted.
  days_from date not null default '-infinity',
  -- The days of accounts before this one, and its own days before this one, hold all that the hours do. The order is that of
  -- the primary keys; the last of all UUIDs says that it is so everywhere.
  root_id uuid not null,
  account_id uuid not null,
  day date not null default '-infinity'
);

-- Usage comes in numbered rows: each process has a journal of its own, and its rows are added in their order. The store
-- remembers one number for each journal, up to which its rows are in, so that rows that are sent again change nothing: by
-- the process itself, or by the one that replays the journal it left behind.
create table usage_journal (
  id text primary key,
  -- The rows before this position are in.
  position bigint not null default 0,
  -- It has nothing from before this left to add; `infinity` once it has ended.
  through timestamptz not null,
  at timestamptz not null default now()
);

-- Names this store: a journal that was written for another one must not be replayed here.
create table usage_store (id uuid not null default gen_random_uuid());
insert into usage_store default values;

-- Writes of a parent's key without the acting header, by key and day: what the parent's first sub-account will have rejected.
-- They come in the batches of usage, in the same transaction, so each counts once. Replicas of 0.1.0 do not say them.
--
-- Only the last days are looked at, so a key has nine rows at most: each day takes the place of the one nine days before.
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

-- One row: since when they are counted.
create table write_by_default_from (
  one boolean primary key default true check (one),
  counted_from timestamptz not null default now()
);
insert into write_by_default_from default values;

-- Usage is exported to a billing system hour by hour. An hour is closed before it is read for that: what is added to it, or taken
-- from it, afterwards is noted beside it. So an hour is exported with the same counts however often, and what came late goes
-- out as a correction of its own, which does not change either.

-- One row: how far the export has got. Until it has begun nothing is closed.
create table usage_export (
  one boolean primary key default true check (one),
  -- Hours from before are closed.
  closed_until timestamptz(0) not null default '-infinity',
  -- The first hour that is exported without being asked for.
  began timestamptz(0),
  -- The next hour to export, and the account after which to go on in it; null at its beginning.
  hour timestamptz(0),
  after_account uuid,
  -- Corrections up to this number are out.
  corrections bigint not null default 0,
  -- The replica whose turn it is, and until when.
  holder uuid,
  held_until timestamptz not null default '-infinity'
);
insert into usage_export default values;

create sequence usage_late_number;

-- What came to a closed hour late. Counts may be negative, where something was taken from it.
create table usage_late (
  root_id uuid not null,
  account_id uuid not null,
  hour timestamptz(0) not null,
  -- 0 while more may be added to the row; then its place among the corrections, and it does not change any more.
  number bigint not null default 0,
  -- Names the correction. Not its number: those come again when a backup is brought back.
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
