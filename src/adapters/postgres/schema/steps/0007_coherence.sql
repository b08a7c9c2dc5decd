-- compatible with: 6
-- locks for a moment: coherence_log
-- The log keeps at most two rows of a fact. Leases read and write on while the index is built, and changes wait for no longer
-- than that.

create index coherence_log_of_key on coherence_log (key);

-- The positions that were taken, one row each, so that none can stand for two changes. The newest one says what the position is.
--
-- A statement that changes a row leaves a dead version of it, and as long as some transaction keeps an old snapshot (a
-- `pg_dump`, a session left idle), each look at the row goes through all of them. So `coherence_seq.v` is no longer written
-- with each change. Replicas of 0.1.0 read `v`; it is written as before while one is registered.
create table coherence_taken (
  seq bigint primary key
);

-- The one row of `coherence_seq` as it is to be read.
create view coherence_now as
  select greatest(s.v, (select max(t.seq) from coherence_taken t)) as seq, s.floor, s.adopted from coherence_seq s;

-- The newest history of which it is known that no lease from before it is left. A copy brings the name of the database it
-- was copied from along, so it is not adopted. A step after the functions fills it.
create table coherence_adopted (
  one boolean primary key default true check (one),
  history text not null,
  -- The place in which the history got its name (`coherence_place`): in any other it has none.
  named_in text not null
);

-- How far the wall clocks of replicas are ahead of this server's, for operators to read. Beside `replica`, whose lock renewals
-- need; written only if it has changed, so that it leaves few dead versions.
create table replica_clock (
  id text primary key,
  ahead_ms bigint not null
);

-- Mixed fleets. A replica says by its nonce of which level it is (`replica_level`): what its version can enforce. A change
-- that a registered replica of a lower level could not enforce is rejected until that replica is gone, and from the first
-- such change on no replica of a lower level can register.
--
-- One row: the level that every registered replica has at least, and that one must have to register.
create table fleet (
  one boolean primary key default true check (one),
  level int not null check (level >= 1)
);
insert into fleet (level) values (1);

-- Until when a statement of 0.1.0 may still be under way in a body that was replaced; for ever while there is no row.
create table released_bodies (
  until timestamptz not null
);
