-- Does for all accounts that have this quota by their plan what `account_quota_changed` does for one account. `which`
-- is the end of the quota's name: 'day', 'month' or 'month:units'. If `before` or `after` is null, the plan had or has
-- no such quota. The search starts from the quotas in use, not from the accounts: a plan may have far more accounts
-- than are used in a day. Rows are locked in the order of their names, as in `quota_ask`.
create or replace function plan_quota_changed(of_plan text, which text, before bigint, after bigint)
returns void language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  starts constant timestamptz := date_trunc(split_part(which, ':', 1), now(), 'UTC');
  quota_of constant text := quota_column('parent::' || which);
  limits text[];
begin
  if after is null or before is not distinct from after then
    return;
  end if;
  limits := array(
    select q.limit_name from limit_quota q join account a on a.id = split_part(q.limit_name, ':', 2)::uuid
    where q.starts_at = starts and q.limit_name like 'parent:%:' || which and (before is null or q.noted > 0)
      and a.plan = of_plan and quota_of <> all (a.unlimited)
      and case quota_of
        when 'requests_per_day' then a.requests_per_day
        when 'requests_per_month' then a.requests_per_month
        else a.units_per_month
      end is null
  );
  perform from limit_quota q where q.limit_name = any (limits) order by q.limit_name, q.starts_at for update;
  if before is null then
    delete from limit_quota q where q.limit_name = any (limits);
    delete from limit_hold h where h.limit_name = any (limits);
    perform change_touch(array['+q:' || of_plan]);
  else
    update limit_quota q set noted = 0 where q.noted > 0 and q.limit_name = any (limits);
  end if;
end $$;
