-- Whether all replicas must hear of the limit: it is near its end, or small. Same as in
-- `src/ports/limits/month-totals.ts`.
create or replace function limit_near(used bigint, quota bigint) returns boolean language sql immutable as $$
  select used >= 0.9 * quota or quota <= 1000
$$;
