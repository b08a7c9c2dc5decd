-- compatible with: 4
-- What operators are told of a replica. Nothing is decided by it: whether a row is dead is judged by its nonce, on the
-- judge's own clock.

alter table replica
  -- When the lease was last renewed, by this server's clock.
  add column renewed_at timestamptz not null default now(),
  add column version text,
  add column host text,
  -- It is about to end, and takes its row away then.
  add column leaving boolean not null default false;

create function replica_register(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving;
end $$;

-- As replicas of earlier versions call it.
create or replace function replica_register(new_id text, new_nonce text, new_lease_ms int) returns void language sql as $$
  select replica_register(new_id, new_nonce, new_lease_ms, null, null, false)
$$;
