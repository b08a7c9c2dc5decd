-- How replicas learn what has changed, and how writers learn that replicas know it (docs/coherence.md).

-- One row. A change locks it last, until its commit, so positions follow commit order (`coherence_take`). A lock leaves
-- no dead row version, and every reading of the log reads this row, so nothing that happens often may update it.
create table coherence_seq (
  one boolean primary key default true check (one),
  -- The log is complete from here on.
  floor bigint not null check (floor >= 1),
  -- Names the history that positions belong to (`coherence_history`).
  marker uuid not null,
  -- Where the database lived when the history was named (`coherence_place`). Anywhere else, the history has no name.
  named_in text not null,
  -- The newest history for which all leases from earlier histories are known to have ended.
  adopted text not null,
  -- Whether the hosting service lets functions read the write position, which knows the timeline before the control
  -- file does.
  reads_wal boolean not null
) with (fillfactor = 10);

do $$
declare
  reads_wal boolean := true;
begin
  begin
    perform pg_walfile_name(pg_current_wal_lsn());
  exception when others then
    reads_wal := false;
  end;
  insert into coherence_seq (floor, marker, named_in, adopted, reads_wal) values (1, gen_random_uuid(), '', '', reads_wal);
end $$;

-- Positions that changes have taken, one row each, so that no two changes can have the same position. The newest row is
-- the current position.
create table coherence_taken (
  seq bigint primary key
);

-- The row of `coherence_seq`, with the current position.
create view coherence_now as
  select coalesce((select max(t.seq) from coherence_taken t), 0) as seq, s.floor, s.adopted from coherence_seq s;

-- Changes to facts. The log keeps at most two rows per fact, which changes find by the index on `key`.
create table coherence_log (
  seq bigint not null,
  key text collate "C" not null,
  withdrawn boolean not null,
  at timestamptz not null default clock_timestamp(),
  primary key (seq, key)
);
create index coherence_log_at on coherence_log (at);
create index coherence_log_of_key on coherence_log (key);

create table replica (
  id text primary key,
  -- Whether a row is dead is judged by its nonce, on the judge's own clock.
  nonce text not null,
  -- Level of the replica's version: the rules that it can enforce (`fleet_require`).
  level int not null check (level >= 1),
  lease_ms int not null check (lease_ms > 0),
  -- How long streams may outlive the lease.
  streams_ms int not null check (streams_ms >= 0),
  acked bigint not null default 0 check (acked >= 0),
  streams_closed int not null default 0 check (streams_closed >= 0),
  -- The other columns are for operators; no decision depends on them.
  -- When the lease was last renewed, by this server's clock.
  renewed_at timestamptz not null default now(),
  version text,
  host text,
  -- Whether it is about to end, and to remove its row then.
  leaving boolean not null default false,
  -- How far the replica's wall clock is ahead of this server's, in milliseconds.
  clock_ahead_ms bigint
) with (fillfactor = 50);

-- Rules for fleets that run several versions at once. A change is rejected while the level of any registered replica is
-- too low to enforce the change. After the first change that needs a certain level, no replica of a lower level can
-- register.
--
-- One row: the minimum level. All registered replicas have at least this level, and no replica below it can register.
create table fleet (
  one boolean primary key default true check (one),
  level int not null check (level >= 1)
);
insert into fleet (level) values (1);
