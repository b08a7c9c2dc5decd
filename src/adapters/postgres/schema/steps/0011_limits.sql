-- compatible with: 6
-- Adds the buckets of limits by the second and minute, for fleets without Redis, and the use of quotas.

-- The bucket of each limit in use. The table is unlogged: a crash empties it, and then every bucket counts as full.
-- `bucket_sweep` deletes the rows of buckets that are full again.
create unlogged table limit_bucket (
  limit_name text collate "C" primary key,
  tokens double precision not null,
  at timestamptz not null,
  full_at timestamptz not null
) with (fillfactor = 50);

-- Use of a quota in one window, which is a day or a month of UTC. `used` counts the units that were spent and the units
-- that replicas have at hand. `series` is a new number whenever the count begins anew, so that a replica's figures
-- about an earlier count are not taken for this one. `quota` is the limit as a replica last knew it. `noted` is 1 after
-- the event that the quota is nearly reached, and 2 after the event that it is reached.
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

-- Share of each replica in `limit_quota.used`: the units of the present series that the replica has spent, and the
-- units that it has at hand.
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
