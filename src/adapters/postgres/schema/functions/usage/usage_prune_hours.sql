-- Deletes up to `most` hourly rows from before `before`; daily rows stay. The function goes through parents in index
-- order: it starts after `after_root` and returns in `next_root` the last parent that is done, or null at the end. Only
-- whole days are deleted. The days must also be more than `days` days old by the database's clock. So if only the
-- caller's clock or only the database's clock jumps, no row is deleted too early. Only one caller at a time deletes;
-- the rest return immediately.
--
-- Hourly rows are kept until they have been rolled up into daily rows (`usage_roll_up`).
create or replace function usage_prune_hours(
  before timestamptz, days int, after_root uuid, most int, out deleted int, out next_root uuid
) language plpgsql set enable_seqscan = off set jit = off as $$
declare
  cutoff constant timestamptz :=
    date_trunc('day', least(before, clock_timestamp() - make_interval(hours => 24 * days),
      (select k.rolled_until::timestamp at time zone 'UTC' from usage_kept k)), 'UTC');
  root uuid := after_root;
  gone int;
begin
  deleted := 0;
  if not pg_try_advisory_xact_lock(7311970459) then
    return;
  end if;
  -- The commit need not wait for the disk: if a crash undoes the deletion, a later call deletes the rows again.
  perform set_config('synchronous_commit', 'off', true);
  perform set_config('tenancy_gateway.usage_noted', 'on', true);
  for roots in 1 .. 1000 loop
    next_root := root;
    select h.root_id into root from usage_hourly h where h.root_id > root order by h.root_id limit 1;
    if not found then
      next_root := null;
      exit;
    end if;
    delete from usage_hourly where ctid = any (array(
      select h.ctid from usage_hourly h where h.root_id = root and h.hour < cutoff
        order by h.hour limit most - deleted for update skip locked
    ));
    get diagnostics gone = row_count;
    if gone > 0 then
      update usage_kept k set hours_from = cutoff where k.hours_from < cutoff;
    end if;
    deleted := deleted + gone;
    exit when deleted >= most;
    next_root := root;
  end loop;
  perform set_config('tenancy_gateway.usage_noted', 'off', true);
end $$;
