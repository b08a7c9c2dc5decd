-- Does for all accounts that have quotas by this plan what `account_quota_changed` does for one account. The search
-- starts from the quotas in use, not from the accounts: a plan may have far more accounts than are used in a day.
create or replace function plan_quotas_changed(old plan, new plan) returns void language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  changed record;
  begun text[] := '{}';
  resized text[] := '{}';
  limits text[];
begin
  for changed in
    select k.name, quota_column('parent::' || k.name) as quota, k.before is null as begins,
      date_trunc(split_part(k.name, ':', 1), now(), 'UTC') as starts
    from (
      values ('day', old.requests_per_day, new.requests_per_day),
        ('month', old.requests_per_month, new.requests_per_month),
        ('month:units', old.units_per_month, new.units_per_month)
    ) k (name, before, after)
    where k.after is not null and k.before is distinct from k.after
  loop
    limits := array(
      select q.limit_name from limit_quota q join account a on a.id = split_part(q.limit_name, ':', 2)::uuid
      where q.starts_at = changed.starts and q.limit_name like 'parent:%:' || changed.name
        and (changed.begins or q.noted > 0) and a.plan = new.name and changed.quota <> all (a.unlimited)
        and to_jsonb(a) ->> changed.quota is null
    );
    if changed.begins then
      begun := begun || limits;
      perform change_touch(array['+q:' || new.name || ':' || changed.name]);
    else
      resized := resized || limits;
    end if;
  end loop;
  perform quotas_changed(begun, resized);
end $$;
