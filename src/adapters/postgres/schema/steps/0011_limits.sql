-- compatible with: 6
-- Adds replicas' reports about limits by the second, for fleets without Redis, and the use of limits by the month.

-- The last report of each replica on each limit in use. The table is unlogged: a crash empties it, and the next
-- reports fill it again. Each replica writes only its own rows, so none waits for another.
create unlogged table limit_report (
  limit_name text collate "C" not null,
  replica text collate "C" not null,
  at timestamptz not null,
  series bigint not null,
  used bigint not null,
  demand double precision not null,
  level double precision not null,
  share double precision not null,
  primary key (limit_name, replica)
) with (fillfactor = 50);

-- Requests of a month (UTC) over all replicas. `quota` is the limit as a replica last knew it. `near_at` is the time
-- of the last addition, for limits near their end.
create table limit_month (
  month timestamptz(0) not null constraint limit_month_start check (date_trunc('month', month, 'UTC') = month),
  limit_name text collate "C" not null,
  used bigint not null check (used >= 0),
  quota bigint not null,
  near_at timestamptz,
  -- The new quota if it was changed in this month, else `null`. Then the quota that replicas report is ignored: a
  -- replica that admits nothing under the new quota may still add requests admitted under the old one, and report the
  -- old one with them.
  changed_to bigint,
  primary key (month, limit_name)
) with (fillfactor = 50);
create index limit_month_near on limit_month (near_at) where near_at is not null;

-- The last batch that each replica has added.
create table limit_month_batch (
  replica text collate "C" primary key,
  batch bigint not null,
  at timestamptz not null default now()
);
create index limit_month_batch_at on limit_month_batch (at);
