-- compatible with: 6
-- locks for a moment: coherence_log
-- The log keeps at most two rows of a fact; changes find them by this index. While the index is built, leases are still
-- read and written, but changes wait.

create index coherence_log_of_key on coherence_log (key);

-- Positions that changes have taken, one row each, so that no position can stand for two changes. The newest row is
-- the present position.
--
-- A statement that changes a row leaves a dead version of it. While some transaction keeps an old snapshot (a
-- `pg_dump`, an idle session), each read of the row goes through all of its dead versions. So `coherence_seq.v` is no
-- longer written with each change. Replicas of 0.1.0 read `v`, so it is still written while one of them is
-- registered.
create table coherence_taken (
  seq bigint primary key
);

-- The one row of `coherence_seq` with the present position.
create view coherence_now as
  select greatest(s.v, (select max(t.seq) from coherence_taken t)) as seq, s.floor, s.adopted from coherence_seq s;

-- One row: the newest history for which all leases of earlier histories are known to have ended. A copied database also
-- has the name of the original's history, but that name does not count in the copy (`named_in`). A later step fills
-- this table, because it needs functions.
create table coherence_adopted (
  one boolean primary key default true check (one),
  history text not null,
  -- The place in which the history got its name (`coherence_place`). In any other place the history has no name.
  named_in text not null
);

-- Milliseconds by which the wall clock of each replica is ahead of this server's, for operators to read. They are not a
-- column of `replica`, because adding one takes a lock that renewals wait for. A row is written only if its value has
-- changed noticeably, so that few dead versions remain.
create table replica_clock (
  id text primary key,
  ahead_ms bigint not null
);

-- Rules for fleets with replicas of several versions. The nonce of a replica tells its level (`replica_level`), which
-- stands for the rules that its version can enforce. A change is rejected while a replica is registered whose level is
-- too low to enforce it. After the first change that needs a level, no replica of a lower level can register.
--
-- One row: the level that every registered replica has at least, and that a replica needs to register.
create table fleet (
  one boolean primary key default true check (one),
  level int not null check (level >= 1)
);
insert into fleet (level) values (1);

-- Time until which a statement of 0.1.0 may still run the former body of a function that was replaced. While there is
-- no row, such a statement may run at any time.
create table released_bodies (
  until timestamptz not null
);
