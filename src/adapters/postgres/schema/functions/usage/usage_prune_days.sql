-- Deletes up to `most` daily rows from before `before`, and returns how many were deleted. Only whole months are
-- deleted. Deleted rows are also more than `months` months old by the database's clock.
create or replace function usage_prune_days(before timestamptz, months int, most int) returns int language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  -- UTC throughout: subtracted from a timestamptz, months would be those of the session's time zone.
  cutoff constant date := date_trunc('month', least(
    before at time zone 'UTC', clock_timestamp() at time zone 'UTC' - make_interval(months => months),
    (select k.rolled_until::timestamp from usage_kept k)
  ))::date;
  deleted int;
begin
  if not pg_try_advisory_xact_lock(7311970459) then
    return 0;
  end if;
  perform set_config('synchronous_commit', 'off', true);
  delete from usage_daily where ctid = any (array(
    select d.ctid from usage_daily d where d.day < cutoff order by d.day limit most for update skip locked
  ));
  get diagnostics deleted = row_count;
  if deleted > 0 then
    update usage_kept k set days_from = cutoff where k.days_from < cutoff;
  end if;
  return deleted;
end $$;
