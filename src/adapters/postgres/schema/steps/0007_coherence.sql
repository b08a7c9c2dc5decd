-- compatible with: 6
-- locks for a moment: coherence_log
-- The log keeps at most two rows per fact. This migration adds an index by which changes find these rows. While the
-- index is being built, leases can still be read and written, but changes wait.

create index coherence_log_of_key on coherence_log (key);

-- Positions that changes have taken, one row each, so that no two changes can have the same position. The newest row is
-- the current position.
--
-- Earlier, each change wrote its position to `coherence_seq.v`. Every update of a row leaves a dead version behind.
-- While a transaction holds an old snapshot (a `pg_dump`, an idle session), each read of the row goes through all of
-- its dead versions. So changes write `v` only while a replica of 0.1.0, which reads `v`, is registered.
create table coherence_taken (
  seq bigint primary key
);

-- The single row of `coherence_seq`, with the current position.
create view coherence_now as
  select greatest(s.v, (select max(t.seq) from coherence_taken t)) as seq, s.floor, s.adopted from coherence_seq s;

-- One row: the newest history for which all leases from earlier histories are known to have ended. A copied database
-- also contains the name of the original's history, but that name is not valid in the copy (`named_in`). A later
-- migration fills this table with the help of functions that do not exist yet.
create table coherence_adopted (
  one boolean primary key default true check (one),
  history text not null,
  -- Where the database lived when the history was named (`coherence_place`). Anywhere else, the history has no name.
  named_in text not null
);

-- How far each replica's wall clock is ahead of this server's, in milliseconds, for operators to read. This is not a
-- column of `replica`, because adding a column takes a lock that lease renewals wait for. A row is written only if its
-- value has changed by more than 100 ms, so that few dead versions build up.
create table replica_clock (
  id text primary key,
  ahead_ms bigint not null
);

-- Rules for fleets that run several versions at once. Each version has a level, which stands for the rules that it can
-- enforce. A replica's nonce contains the level of the replica's version (`replica_level`). A change is rejected while
-- the level of any registered replica is too low to enforce the change. After the first change that needs a certain
-- level, no replica of a lower level can register.
--
-- One row: the minimum level. All registered replicas have at least this level, and no replica below it can register.
create table fleet (
  one boolean primary key default true check (one),
  level int not null check (level >= 1)
);
insert into fleet (level) values (1);

-- Migrations have replaced functions of 0.1.0. A statement that began earlier may still be running a function's old
-- body, but has ended by the time `until`. An empty table means that the time is not known yet.
create table released_bodies (
  until timestamptz not null
);
