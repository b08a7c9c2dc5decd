-- Locks and returns a quota's row for the window that begins at `starts`. If there is none, creates one that includes
-- what the account has already used in the window.
create or replace function quota_of(of_limit text, starts timestamptz) returns limit_quota language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  found_one limit_quota;
begin
  select * into found_one from limit_quota q where q.limit_name = of_limit and q.starts_at = starts for update;
  if not found then
    insert into limit_quota (limit_name, starts_at, series, used)
      values (of_limit, starts, nextval('limit_series'), usage_since(of_limit, starts))
      on conflict (limit_name, starts_at) do nothing;
    select * into found_one from limit_quota q where q.limit_name = of_limit and q.starts_at = starts for update;
  end if;
  return found_one;
end $$;
