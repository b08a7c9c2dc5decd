-- Whether all replicas hear of it: near its end, or small. The same as in `src/ports/limits/month-totals.ts`.
create or replace function limit_near(used bigint, quota bigint) returns boolean language sql immutable as $$
  select used >= 0.9 * quota or quota <= 1000
$$;
