-- How replicas learn what changed, and how writers learn that they have (docs/coherence.md).

-- One row. Whoever changes a decision takes the next `v` as the last thing before its commit: the row lock, held until
-- then, makes the order of positions the order of commits, so a snapshot that sees `v` sees every mutation up to it.
create table coherence_seq (
  one boolean primary key default true check (one),
  v bigint not null check (v >= 0),
  -- The log is complete from here on.
  floor bigint not null check (floor >= 1),
  -- Changed when a backup is brought back (`tenancy-gateway restored`): positions after that are another history.
  marker uuid not null,
  -- The newest incarnation of which it is known that no lease from before it is left.
  adopted text not null
) with (fillfactor = 10);
insert into coherence_seq (v, floor, marker, adopted) values (0, 1, gen_random_uuid(), '');

create table coherence_log (
  seq bigint not null,
  key text collate "C" not null,
  withdrawn boolean not null,
  at timestamptz not null default clock_timestamp(),
  primary key (seq, key)
);
create index coherence_log_at on coherence_log (at);

create table replica (
  id text primary key,
  nonce text not null,
  lease_ms int not null check (lease_ms > 0),
  acked bigint not null default 0 check (acked >= 0),
  streams_closed int not null default 0 check (streams_closed >= 0)
) with (fillfactor = 50);

-- Names the history that positions belong to. Another cluster has another system identifier, a promoted or
-- point-in-time restored one another timeline (of the write position: the control file learns of it late), and a
-- backup brought back in place another marker. The timeline comes from the control file where a service does not let
-- the write position be read.
do $$
declare
  timeline text := 'left(pg_walfile_name(pg_current_wal_lsn()), 8)';
begin
  begin
    execute 'select ' || timeline;
  exception when others then
    timeline := '(select timeline_id from pg_control_checkpoint())';
    execute 'select ' || timeline;
  end;
  execute format($f$
    create function coherence_incarnation() returns text language sql stable as
      'select concat_ws(''-'', (select system_identifier from pg_control_system()), %s, (select marker from coherence_seq))'
  $f$, timeline);
end $$;

-- A new database has no earlier leases.
update coherence_seq set adopted = coherence_incarnation();

-- Logs what changed and takes the next position: the last thing a mutation does.
create function coherence_record(keys text[], withdrawn text[] default '{}') returns bigint language plpgsql as $$
declare
  taken bigint;
begin
  -- A 2xx is a promise: it must not depend on a commit that a crash can still undo.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  update coherence_seq set v = v + 1 returning v into taken;
  insert into coherence_log (seq, key, withdrawn)
    select taken, k, k = any (coherence_record.withdrawn) from unnest(keys) k group by k;
  perform pg_notify('tenancy_gateway_coherence', taken::text);
  return taken;
end $$;

-- The position a mutation without effect waits for. Called after the row was seen (and locked), so in a later snapshot:
-- whatever made the row what it is has this position or an older one.
create function coherence_position() returns bigint language sql volatile as 'select v from coherence_seq';

-- The newest logged change of these keys that some replica has not confirmed; null where all have. For mutations that
-- log nothing themselves, but whose 2xx relies on an earlier change that may still be on its way. While a restored
-- database cannot show who holds a lease, that is everything.
create function coherence_awaited(keys text[]) returns bigint language sql volatile as $$
  select case when s.adopted = coherence_incarnation() then (
    select max(l.seq) from coherence_log l
    where l.key = any (keys) and l.seq > (select min(r.acked) from replica r)
  ) else s.v end
  from coherence_seq s
$$;

-- A lease counts on its row: this commit must survive a crash, whatever the server's default is.
create function replica_register(new_id text, new_nonce text, new_lease_ms int) returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into replica (id, nonce, lease_ms) values (new_id, new_nonce, new_lease_ms)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms;
end $$;

-- Writers wait for this commit, and it need not survive a crash: without it they wait for the lease instead. A late
-- call of an earlier pass takes nothing back.
create function replica_ack(of_id text, seq bigint, closed int) returns void language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update replica r set
    acked = greatest(r.acked, seq),
    streams_closed = case when seq > r.acked then closed when seq = r.acked then greatest(closed, r.streams_closed)
      else r.streams_closed end
    where r.id = of_id;
end $$;
