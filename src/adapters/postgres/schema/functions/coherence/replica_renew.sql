-- Renews the lease of a replica. First gives the history a name if it has none, so that no replica
-- makes decisions on an unnamed history. The lease depends on the row in `replica`, so the commit must survive a crash,
-- even if `synchronous_commit` is off on the server. The nonce in the row starts with `level`, the level of the
-- replica's version (`replica_level`).
-- `clock_ahead_ms` is how far the replica's wall clock was ahead of this server's at the last renewal, in milliseconds;
-- null if unknown. A replica below this version's level may be refused (`fleet_admit`).
create or replace function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean, clock_ahead_ms bigint,
  level int
) returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  if level < 3 then
    perform fleet_admit(level);
  end if;
  perform coherence_name();
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, level || ':' || new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving;
  if clock_ahead_ms is not null then
    insert into replica_clock as c (id, ahead_ms) values (new_id, clock_ahead_ms)
      on conflict (id) do update set ahead_ms = excluded.ahead_ms where abs(c.ahead_ms - excluded.ahead_ms) > 100;
  end if;
end $$;
