-- Renews the lease of a replica. First gives the history a name if it has none, so that no replica makes decisions on an
-- unnamed history. The lease depends on the row in `replica`, so the commit must survive a crash, even if
-- `synchronous_commit` is off on the server.
--
-- `clock_ahead_ms` is how far the replica's wall clock was ahead of this server's at the last renewal, in milliseconds;
-- null if unknown. `level` is the level of the replica's version, by which a replica that registers may be refused
-- (`fleet_admit`). `coherence_name` comes last: before the lock of `fleet_admit` it could deadlock with a change.
create or replace function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_streams_ms int, new_version text, new_host text, is_leaving boolean,
  clock_ahead_ms bigint, level int
) returns void language plpgsql as $$
#variable_conflict use_column
declare
  appeared boolean;
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into replica as r (id, nonce, level, lease_ms, streams_ms, renewed_at, version, host, leaving, clock_ahead_ms)
    values (
      new_id, new_nonce, replica_renew.level, new_lease_ms, new_streams_ms, clock_timestamp(), new_version, new_host,
      is_leaving, replica_renew.clock_ahead_ms
    )
    on conflict (id) do update set nonce = excluded.nonce, level = excluded.level, lease_ms = excluded.lease_ms,
      streams_ms = excluded.streams_ms, renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving,
      clock_ahead_ms = coalesce(excluded.clock_ahead_ms, r.clock_ahead_ms)
    returning r.xmax = 0 into appeared;
  if appeared then
    perform fleet_admit(replica_renew.level);
  end if;
  perform coherence_name();
end $$;
