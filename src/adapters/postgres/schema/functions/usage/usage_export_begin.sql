-- Takes or renews the export lock for the duration `lease`, or returns false if another replica holds the lock. Then
-- closes every hour that ended at least `settle` ago and whose counts are complete. Counts that arrive for a closed
-- hour become corrections, each with a number.
create or replace function usage_export_begin(replica uuid, lease interval, settle interval, lost_after interval) returns boolean
language plpgsql as $$
declare
  ready timestamptz;
begin
  update usage_export e set holder = replica, held_until = clock_timestamp() + lease
    where e.holder = replica or e.held_until < clock_timestamp();
  if not found then
    return false;
  end if;
  select date_trunc('hour', least(c.through, clock_timestamp() - settle), 'UTC') into ready
    from usage_completeness(lost_after, now(), now()) c;
  if exists (select from usage_export e where e.began is null or e.closed_until < ready) then
    if usage_fence() then
      -- The first export closes all earlier hours without exporting them. Operators can export them later by
      -- the command `usage export`.
      update usage_export e set closed_until = greatest(e.closed_until, ready), began = coalesce(e.began, ready),
        hour = coalesce(e.hour, ready);
    end if;
  end if;
  if exists (select from usage_late l where l.number = 0) then
    perform usage_late_lock();
    delete from usage_late l where l.number = 0
      and (l.requests, l.reads, l.writes, l.client_errors, l.server_errors, l.bytes_in, l.bytes_out, l.units)
        = (0, 0, 0, 0, 0, 0, 0, 0);
    update usage_late l set number = nextval('usage_late_number') where l.number = 0;
    delete from usage_late l using usage_export e, usage_kept k
      where l.number between 1 and e.corrections and l.hour < k.hours_from;
  end if;
  return true;
end $$;
