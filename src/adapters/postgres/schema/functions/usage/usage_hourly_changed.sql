-- This trigger keeps the days equal to their hours, and notes late changes of closed hours. It adds the changes of
-- each statement to the days in the same transaction, whichever function and version of the gateway makes them: so
-- every statement sees days and hours that agree. It reads whether an hour is closed under the lock that
-- `usage_export_begin` takes to close hours. So a batch is either in its hours before they are closed and exported, or
-- is noted here as late.
create or replace function usage_hourly_changed() returns trigger language plpgsql as $$
declare
  closed timestamptz;
begin
  if tg_op = 'INSERT' then
    -- `insert … on conflict do update` fires this trigger twice, and often without an inserted or an updated row.
    if not exists (select from added) then
      return null;
    end if;
    perform usage_daily_lock();
    select e.closed_until into closed from usage_export e;
    insert into usage_daily as d
      select h.root_id, h.account_id, usage_day_of(h.hour), h.key_id, sum(h.requests), sum(h.reads), sum(h.writes),
        sum(h.client_errors), sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out)
      from added h group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (root_id, account_id, day, key_id) do update set
      requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
      client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
      bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out;
    if exists (select from added n where n.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(n)) from added n where n.hour < closed), 1);
    end if;
  elsif tg_op = 'UPDATE' then
    if not exists (select from added) then
      return null;
    end if;
    perform usage_daily_lock();
    select e.closed_until into closed from usage_export e;
    insert into usage_daily as d
      select h.root_id, h.account_id, usage_day_of(h.hour), h.key_id, sum(h.requests), sum(h.reads), sum(h.writes),
        sum(h.client_errors), sum(h.server_errors), sum(h.bytes_in), sum(h.bytes_out)
      from (
        select n.root_id, n.account_id, n.hour, n.key_id, n.requests, n.reads, n.writes, n.client_errors, n.server_errors,
          n.bytes_in, n.bytes_out from added n
        union all
        select o.root_id, o.account_id, o.hour, o.key_id, -o.requests, -o.reads, -o.writes, -o.client_errors,
          -o.server_errors, -o.bytes_in, -o.bytes_out from removed o
      ) h
      group by 1, 2, 3, 4 order by 1, 2, 3, 4
    on conflict (root_id, account_id, day, key_id) do update set
      requests = d.requests + excluded.requests, reads = d.reads + excluded.reads, writes = d.writes + excluded.writes,
      client_errors = d.client_errors + excluded.client_errors, server_errors = d.server_errors + excluded.server_errors,
      bytes_in = d.bytes_in + excluded.bytes_in, bytes_out = d.bytes_out + excluded.bytes_out;
    if exists (select from added n where n.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(n)) from added n where n.hour < closed), 1);
    end if;
    if exists (select from removed o where o.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(o)) from removed o where o.hour < closed), -1);
    end if;
  -- When retention deletes hours, their days stay.
  elsif current_setting('tenancy_gateway.usage_retention', true) is distinct from 'on' then
    if not exists (select from removed) then
      return null;
    end if;
    perform usage_daily_lock();
    select e.closed_until into closed from usage_export e;
    update usage_daily d set
      requests = d.requests - h.requests, reads = d.reads - h.reads, writes = d.writes - h.writes,
      client_errors = d.client_errors - h.client_errors, server_errors = d.server_errors - h.server_errors,
      bytes_in = d.bytes_in - h.bytes_in, bytes_out = d.bytes_out - h.bytes_out
    from (
      select o.root_id, o.account_id, usage_day_of(o.hour) as day, o.key_id, sum(o.requests) as requests,
        sum(o.reads) as reads, sum(o.writes) as writes, sum(o.client_errors) as client_errors,
        sum(o.server_errors) as server_errors, sum(o.bytes_in) as bytes_in, sum(o.bytes_out) as bytes_out
      from removed o group by 1, 2, 3, 4
    ) h
    where (d.root_id, d.account_id, d.day, d.key_id) = (h.root_id, h.account_id, h.day, h.key_id);
    delete from usage_daily d
      using (select distinct o.root_id, o.account_id, usage_day_of(o.hour) as day, o.key_id from removed o) h
      where (d.root_id, d.account_id, d.day, d.key_id) = (h.root_id, h.account_id, h.day, h.key_id)
        and (d.requests, d.reads, d.writes, d.client_errors, d.server_errors, d.bytes_in, d.bytes_out) = (0, 0, 0, 0, 0, 0, 0);
    if exists (select from removed o where o.hour < closed) then
      perform usage_note_late((select jsonb_agg(to_jsonb(o)) from removed o where o.hour < closed), -1);
    end if;
  end if;
  return null;
end $$;
