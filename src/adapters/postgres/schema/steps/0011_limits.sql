-- compatible with: 6
-- What replicas tell each other of limits by the second, if there is no Redis for it, and what is used of limits by the month.

-- The last report of each replica on each limit in use. Unlogged: a crash empties it, and replicas fill it again with what they
-- report next. Each replica writes rows of its own, so none waits for another.
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

-- Requests of a month (UTC) over all replicas. `quota` is the limit as a replica last knew it; `near_at` is when it was last
-- added to, of those that are near their end.
create table limit_month (
  month timestamptz(0) not null constraint limit_month_start check (date_trunc('month', month, 'UTC') = month),
  limit_name text collate "C" not null,
  used bigint not null check (used >= 0),
  quota bigint not null,
  near_at timestamptz,
  -- What the quota was changed to in this month, `null` if it was not. What replicas say of it counts no more then: one that
  -- lets nothing through under the new quota may still add, late, what it let through under the old one, and say that.
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
