-- compatible with: 4
-- locks for a moment: coherence_log
-- The log keeps at most two rows of a fact, and the position is read from it. Functions and one index: leases read and
-- write on while this runs, and changes wait for no longer than the index takes.
--
-- Positions. A statement that changes a row leaves a dead version of it, and as long as some transaction keeps an old
-- snapshot (a `pg_dump`, a session left idle), each look at the row goes through all of them. So `coherence_seq.v` is no
-- longer written with each change: the newest row of the log says what the position is. The lock on `coherence_seq` still
-- makes the order of positions the order of commits; a lock leaves no dead version.
--
-- Replicas of earlier versions read `v`. It is written as before while one is registered.

create index coherence_log_of_key on coherence_log (key);

-- The one row of `coherence_seq` as it is to be read. The newest row of the log says what the position is; `floor` stands
-- in for it where an earlier version has pruned all of them.
create view coherence_now as
  select greatest(s.v, s.floor - 1, (select max(l.seq) from coherence_log l)) as seq, s.floor, s.adopted
  from coherence_seq s;

-- The position a change without effect waits for. Called after its row was seen (and locked), so in a later snapshot:
-- what made the row what it is has this position or an older one.
create or replace function coherence_position() returns bigint language plpgsql volatile as $$
begin
  return (select seq from coherence_now);
end $$;

-- The number of the protocol that the replica with this nonce speaks; 1 where it gives none.
create function replica_level(nonce text) returns int language sql immutable as $$
  select coalesce(substring(nonce from '^([0-9]{1,6}):')::int, 1)
$$;

-- Whether a replica is registered that reads the position from `v`. Those that read it from the log begin their nonce
-- with the number of the protocol (`replica_renew`); those of earlier versions write a UUID.
--
-- For ten minutes after this migration: always, if there were replicas. A statement of theirs may still be under way then
-- in the earlier body of `coherence_record`, which counts on from `v`, even after its replica's row has been removed.
do $do$
begin
  execute format($f$
    create function coherence_reads_v() returns boolean language plpgsql volatile as $$
    begin
      return clock_timestamp() < %L or exists (select from replica r where replica_level(r.nonce) < 2);
    end $$
  $f$, case when exists (select from replica) then now() + interval '10 minutes' else '-infinity' end);
end $do$;

-- Logs what changed and takes the next position: the last thing a change does. Of each fact the log keeps the newest
-- change, and the newest revocation where that is older: a replica that reads on must end the streams that depended on it.
-- Changes of one fact queue up for the row it is about, so the older rows are deleted before the lock that all changes need.
create or replace function coherence_record(keys text[], withdrawn text[] default '{}') returns bigint
language plpgsql as $$
declare
  newest_deleted bigint;
  taken bigint;
begin
  -- A 2xx is a promise: it must not depend on a commit that a crash can still undo.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  with deleted as (
    delete from coherence_log l
      where l.key = any (keys) and (not l.withdrawn or l.key = any (coherence_record.withdrawn))
      returning l.seq
  )
  select max(d.seq) into newest_deleted from deleted d;
  perform from coherence_seq for no key update;
  -- In a later snapshot than the lock: it has every change that was committed before, but for what was just deleted.
  taken := greatest(coherence_position(), newest_deleted) + 1;
  if coherence_reads_v() then
    update coherence_seq set v = taken;
  end if;
  insert into coherence_log (seq, key, withdrawn)
    select taken, k, k = any (coherence_record.withdrawn) from unnest(keys) k group by k;
  perform pg_notify('tenancy_gateway_coherence', taken::text);
  return taken;
end $$;

-- The newest logged change of these keys that some replica has not confirmed; null where all have. A replica that is
-- further behind than the log goes back may lack any change that is no longer in it.
create or replace function coherence_awaited(keys text[]) returns bigint language sql volatile as $$
  select case when s.adopted = coherence_incarnation() then greatest(
    (select max(l.seq) from coherence_log l where l.key = any (keys) and l.seq > a.acked),
    case when a.acked < s.floor - 1 then s.floor - 1 end
  ) else s.seq end
  from coherence_now s, (select min(r.acked) as acked from replica r) a
$$;

-- Deletes log rows below `before`, about `most` of them, and raises the floor with them. Returns whether there may be
-- more. One caller at a time works, the others return at once; nothing happens where `of_incarnation` is not the present
-- one. Begins at the floor, below which there are none: under an old snapshot it would go through all it has ever deleted.
create function coherence_prune(of_incarnation text, before bigint, most int) returns boolean language plpgsql as $$
declare
  -- The newest row stays: it says what the position is.
  until constant bigint := least(before, coherence_position());
  start bigint;
  portion bigint;
begin
  if not pg_try_advisory_xact_lock(7311970452) or of_incarnation <> coherence_incarnation() then
    return false;
  end if;
  -- Rows and floor come back together, where a crash undoes this.
  perform set_config('synchronous_commit', 'off', true);
  select s.floor into start from coherence_seq s;
  select l.seq into portion from coherence_log l where l.seq >= start and l.seq < until
    order by l.seq offset most - 1 limit 1;
  -- A row that a change is deleting is left to it; waiting for it here could end in a deadlock.
  delete from coherence_log where ctid = any (array(
    select l.ctid from coherence_log l
    where l.seq >= start and l.seq < until and l.seq <= coalesce(portion, l.seq) for update skip locked
  ));
  update coherence_seq set floor = coalesce(portion + 1, until) where floor < coalesce(portion + 1, until);
  return portion is not null;
end $$;

-- Renews the lease of a replica that reads the position from the log. A lease counts on its row: this commit must survive
-- a crash, whatever the server's default is.
create function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, '2:' || new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving;
end $$;

-- The same for a replica that reads `v`, as 0.1.0 calls it. When its row appears, `v` is brought up to the position, under
-- the lock that changes take it under: each change either is in that position already or sees the row, and writes `v`.
create or replace function replica_register(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
declare
  appeared boolean;
begin
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
