-- Renews the lease of a replica of 0.1.0, which reads the position from `coherence_seq.v`. When the replica's row first
-- appears, `v` is raised to the current position, under the lock that changes take. So `v` is not older than the
-- position of any earlier change. Every later change sees the replica's row and writes `v` itself.
create or replace function replica_register(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
declare
  appeared boolean;
begin
  perform fleet_admit(1);
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving
    returning xmax = 0 into appeared;
  if appeared then
    perform from coherence_seq for no key update;
    update coherence_seq set v = coherence_position() where v < coherence_position();
  end if;
end $$;
