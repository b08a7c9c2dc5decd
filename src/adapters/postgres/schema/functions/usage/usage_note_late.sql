-- Notes changes to closed hours for the export. If a change is to a day that has already been rolled up, updates
-- `usage_daily` as well. `sign` is 1 for added rows and -1 for removed rows. The caller holds the locks of
-- `usage_late_until` and `usage_late_lock`, so the closed hours and the rolled-up days stay the same until the commit.
create or replace function usage_note_late(changes usage_hourly[], sign int) returns void language plpgsql as $$
declare
  closed timestamptz;
  kept usage_kept;
begin
  select e.closed_until into closed from usage_export e;
  select k.* into kept from usage_kept k;

  insert into usage_late as l (root_id, account_id, hour, requests, reads, writes, client_errors, server_errors, bytes_in, bytes_out, units)
    select c.root_id, c.account_id, c.hour, sign * sum(c.requests), sign * sum(c.reads), sign * sum(c.writes),
      sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in), sign * sum(c.bytes_out),
      sign * units_sum(sum(c.units))
    from unnest(changes) c where c.hour < closed group by 1, 2, 3 order by 1, 2, 3
  on conflict (account_id, hour, number) do update set
    requests = l.requests + excluded.requests, reads = l.reads + excluded.reads, writes = l.writes + excluded.writes,
    client_errors = l.client_errors + excluded.client_errors, server_errors = l.server_errors + excluded.server_errors,
    bytes_in = l.bytes_in + excluded.bytes_in, bytes_out = l.bytes_out + excluded.bytes_out,
    units = units_sum(l.units + excluded.units);

  insert into usage_daily as d
    select c.root_id, c.account_id, usage_day_of(c.hour), c.key_id, sign * sum(c.requests), sign * sum(c.reads),
      sign * sum(c.writes), sign * sum(c.client_errors), sign * sum(c.server_errors), sign * sum(c.bytes_in),
      sign * sum(c.bytes_out), sign * units_sum(sum(c.units))
    from unnest(changes) c
    where usage_day_of(c.hour) < usage_rolled_until(kept, c.root_id, c.account_id) group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (root_id, account_id, day, key_id) do update set
    requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
    client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
    bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out,
    units = units_sum(d.units + excluded.units);
  if sign < 0 then
    delete from usage_daily d
      using (select distinct c.root_id, c.account_id, usage_day_of(c.hour) as day, c.key_id from unnest(changes) c) h
      where (d.root_id, d.account_id, d.day, d.key_id) = (h.root_id, h.account_id, h.day, h.key_id)
        and (d.requests, d.reads, d.writes, d.client_errors, d.server_errors, d.bytes_in, d.bytes_out, d.units)
          = (0, 0, 0, 0, 0, 0, 0, 0);
  end if;
end $$;
