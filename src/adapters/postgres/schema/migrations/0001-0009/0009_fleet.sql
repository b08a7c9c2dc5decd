-- compatible with: 4
-- Mixed fleets. A replica says by its nonce of which level it is (`replica_level`): what its version can enforce. A change that a registered replica of a lower level could not enforce is
-- rejected until that replica is gone, and from the first such change on no replica of a lower level can register.

-- One row: the level that every registered replica has at least, and that one must have to register.
create table fleet (
  one boolean primary key default true check (one),
  level int not null check (level >= 1)
);
insert into fleet (level) values (1);

-- For a change that only replicas of this level and above can enforce: called in its transaction, before it locks
-- anything. Fails with TG001 and the versions that are in the way.
--
-- Registrations of a lower level take the same lock shared (`fleet_admit`): each was committed before this looks, and is
-- seen, or looks at the level after this was committed, and fails. The lock is only taken for the first such change; after
-- that there is no replica of a lower level.
create function fleet_require(needed int) returns void language plpgsql as $$
declare
  versions text;
begin
  if needed <= (select f.level from fleet f) then
    return;
  end if;
  perform pg_advisory_xact_lock(7311970453);
  select string_agg(distinct coalesce(r.version, 'before 0.1.0'), ', ') into versions
    from replica r where replica_level(r.nonce) < needed;
  if versions is not null then
    raise exception using errcode = 'TG001', message = 'replicas are registered that cannot enforce this change',
      detail = versions;
  end if;
  update fleet f set level = needed where f.level < needed;
end $$;

-- For a registration, before it writes its row.
create function fleet_admit(own int) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock_shared(7311970453);
  if own < (select f.level from fleet f) then
    raise exception using errcode = 'TG002',
      message = 'this version cannot enforce what a newer one has stored (docs/operating.md, Upgrade and roll back)';
  end if;
end $$;

-- Replicas of level 1 register by this function. The next level wraps `replica_renew` in the same way.
alter function replica_register(text, text, int, text, text, boolean) rename to replica_register_admitted;
create function replica_register(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
begin
  perform fleet_admit(1);
  perform replica_register_admitted(new_id, new_nonce, new_lease_ms, new_version, new_host, is_leaving);
end $$;
