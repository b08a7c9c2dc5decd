-- Writes the event that a quota is nearly reached (level 1) or reached (level 2) in its current series, unless that
-- event has already been written. This function locks the parent's events before the quota. A change to the account
-- locks both in the same order, so it cannot deadlock with this function.
create or replace function quota_note(of_limit text, of_series bigint, level int) returns void language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  owner account;
  parent uuid;
  noted limit_quota;
begin
  select * into owner from account a where a.id = split_part(of_limit, ':', 2)::uuid;
  if not found then
    return;
  end if;
  parent := coalesce(owner.parent_id, owner.id);
  perform event_tick(parent);
  update limit_quota q set noted = level
    where q.limit_name = of_limit and q.series = of_series and q.noted < level
    returning * into noted;
  if found then
    perform event_add(
      parent,
      array[case level when 1 then 'quota.near' else 'quota.reached' end],
      array[case when owner.parent_id is not null then owner.id end],
      array[jsonb_build_object(
        'period', split_part(of_limit, ':', 3), 'unit', split_part(quota_column(of_limit), '_', 1), 'quota', noted.quota, 'used', least(noted.used, noted.quota),
        'starts_at', noted.starts_at
      )],
      array[null::jsonb]
    );
  end if;
end $$;
