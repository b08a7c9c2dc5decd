-- Returns the requests of an account since the first instant of a day, as far as they were added; of a parent with all its
-- sub-accounts. The limit names the account, such as `parent:0198…:month`.
create or replace function usage_since(of_limit text, starts timestamptz) returns bigint language plpgsql stable
set enable_seqscan = off as $$
declare
  owner constant uuid := split_part(of_limit, ':', 2);
  since constant date := usage_day_of(starts);
begin
  if split_part(of_limit, ':', 1) = 'parent' then
    return (select coalesce(sum(d.requests), 0) from usage_daily d where d.root_id = owner and d.day >= since);
  end if;
  return (
    select coalesce(sum(d.requests), 0) from usage_daily d join account a on a.id = d.account_id and a.parent_id = d.root_id
      where a.id = owner and d.day >= since
  );
end $$;
