-- Buckets of limits per second and per minute, for fleets without Redis. Also the use of quotas, which are limits per
-- day and per month.

-- The bucket of each limit in use. The table is unlogged: a crash empties it, and then every bucket counts as full.
-- `bucket_sweep` deletes the rows of buckets that are full again.
create unlogged table limit_bucket (
  limit_name text collate "C" primary key,
  tokens double precision not null,
  at timestamptz not null,
  full_at timestamptz not null
) with (fillfactor = 50);

-- Use of a quota in one window, which is a UTC day or month:
-- - `used` is the number of units that replicas have spent or hold.
-- - `series` gets a new number whenever `used` is counted anew. So a replica's totals for an old series are not added
--   to the new one.
-- - `quota` is the limit as a replica last reported it.
-- - `noted` is 1 once the event `quota.near` has been written, and 2 once the event `quota.reached` has been written.
create sequence limit_series;
create table limit_quota (
  limit_name text collate "C" not null,
  starts_at timestamptz(0) not null,
  series bigint not null,
  used bigint not null,
  quota bigint not null default 0,
  noted smallint not null default 0,
  primary key (limit_name, starts_at)
) with (fillfactor = 50);
create index limit_quota_starts on limit_quota (starts_at);

-- Each replica's share of `limit_quota.used`: the units of the current series that the replica has spent, and those
-- that it still holds.
create table limit_hold (
  limit_name text collate "C" not null,
  starts_at timestamptz(0) not null,
  replica text collate "C" not null,
  spent bigint not null,
  hand bigint not null,
  at timestamptz not null,
  primary key (limit_name, starts_at, replica)
) with (fillfactor = 50);
create index limit_hold_starts on limit_hold (starts_at);
