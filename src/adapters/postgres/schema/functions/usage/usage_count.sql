-- Adds counts to `usage_hourly`, adds writes without the acting header to `write_by_default`, and records when keys
-- were last used. A row may have bytes, units or outcomes but no requests if an earlier batch contained the requests. A row without counts only says that the key was
-- used. Counts are added even for an account that a restored backup lacks; reports and exports leave it out. Keys may
-- share a row of usage (`usage_share_keys`), but each key has its own rows in `write_by_default` and its own last-used
-- time.
--
-- A key's row is locked only if its new last-used time is more than 30 seconds after the stored one. This saves writes:
-- a lock is also a write, and a key in constant use is in every batch from every replica. Open streams regularly record
-- their use (`noteUse`), so a stored time is always less than a minute behind. If another transaction has locked a
-- key's row, this function does not wait: it skips the row, and a later batch updates it.
create or replace function usage_count(counts usage_counted[], keys_per_account_hour int) returns void
language plpgsql as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  added constant usage_hourly[] := array(
    select row(s.*)::usage_hourly from (
      select c.root_id, c.account_id, c.hour, c.key_id, sum(c.requests), sum(c.reads), sum(c.writes),
        sum(c.client_errors), sum(c.server_errors), sum(c.bytes_in), sum(c.bytes_out),
        units_sum(sum(c.units))
      from unnest(counts) c
      where (c.requests, c.client_errors, c.server_errors, c.bytes_in, c.bytes_out, c.units)
        <> (0, 0, 0, 0, 0, 0)
      group by 1, 2, 3, 4
    ) s
  );
  written usage_hourly[];
  late_until timestamptz;
  late usage_hourly[];
begin
  -- The trigger is off: it would note each late row by itself, under a lock that no other batch can share.
  perform set_config('tenancy_gateway.usage_noted', 'on', true);
  written := usage_add_hours(added, keys_per_account_hour);
  perform set_config('tenancy_gateway.usage_noted', 'off', true);
  late_until := usage_late_until();
  late := array(
    select row(s.*)::usage_hourly from (
      select r.root_id, r.account_id, r.hour, coalesce(w.key_id, nil), sum(r.requests), sum(r.reads), sum(r.writes),
        sum(r.client_errors), sum(r.server_errors), sum(r.bytes_in), sum(r.bytes_out), units_sum(sum(r.units))
      from unnest(added) r left join unnest(written) w using (root_id, account_id, hour, key_id)
      where r.hour < late_until group by 1, 2, 3, 4
    ) s
  );
  if cardinality(late) > 0 then
    -- `usage_late_lock` in shared mode.
    perform pg_advisory_xact_lock_shared(7311970458);
    perform usage_note_late(late, 1);
  end if;

  -- `write_by_default` has nine slots per key, and days that are nine days apart share a slot. If a batch was delayed
  -- for days and contains two such days, only the later day is kept.
  insert into write_by_default as w
    select distinct on (1, 2, 3) c.account_id, c.key_id, (usage_day_of(c.hour) - date '2000-01-01') % 9,
      usage_day_of(c.hour), sum(c.writes_by_default), max(c.last_by_default)
    from unnest(counts) c join account a on a.id = c.account_id
    where c.writes_by_default > 0
    group by 1, 2, 3, 4 order by 1, 2, 3, 4 desc
  on conflict (account_id, key_id, slot) do update set
    requests = excluded.requests + case when w.day = excluded.day then w.requests else 0 end,
    last_at = case when w.day = excluded.day then greatest(w.last_at, excluded.last_at) else excluded.last_at end,
    day = excluded.day
    where w.day <= excluded.day;

  with used as (
    select c.key_id, least(now(), max(c.last_used)) as at from unnest(counts) c group by 1
  ), locked as materialized (
    select k.id, u.at from api_key k join used u on u.key_id = k.id
    where k.last_used_at is null or k.last_used_at < u.at - interval '30 seconds'
    order by k.id for no key update of k skip locked
  )
  update api_key k set last_used_at = l.at from locked l where k.id = l.id;
end $$;
