-- compatible with: 4
-- locks for a moment: account
-- Limits of what an account may send: requests per second with a burst, and per calendar month. Replicas of earlier versions cannot
-- enforce them (`limits_begin`). Columns that are empty at first take no rewrite and no look at the rows.

alter table account
  add column requests_per_second int,
  add column burst int,
  add column requests_per_month bigint,
  add constraint account_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_month > 0
    and (burst is null or requests_per_second is not null)
  ) not valid;

-- For a change that sets limits, right after `change_begin`: fails while a replica is registered that cannot enforce them. `limits` is
-- an object of which absent members stay as they are and null takes a limit away, or null altogether; a limit that is to be
-- taken away was set, so there is no such replica.
create function limits_begin(limits jsonb) returns void language plpgsql as $$
begin
  if exists (select from jsonb_each(limits) l where l.value <> 'null') then
    perform fleet_require(3);
  end if;
end $$;

-- The row with these limits.
create function account_limited(a account, limits jsonb) returns account language plpgsql immutable as $$
begin
  if limits ? 'requests_per_second' then
    a.requests_per_second := (limits ->> 'requests_per_second')::int;
  end if;
  if limits ? 'burst' then
    a.burst := (limits ->> 'burst')::int;
  end if;
  if limits ? 'requests_per_month' then
    a.requests_per_month := (limits ->> 'requests_per_month')::bigint;
  end if;
  return a;
end $$;

-- Replicas of level 2 renew their leases by this function, those of level 3 by the one after it. The next level wraps that one.
alter function replica_renew(text, text, int, text, text, boolean) rename to replica_renew_admitted;
create function replica_renew(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
begin
  perform fleet_admit(2);
  perform replica_renew_admitted(new_id, new_nonce, new_lease_ms, new_version, new_host, is_leaving);
end $$;

create function replica_renew_3(
  new_id text, new_nonce text, new_lease_ms int, new_version text, new_host text, is_leaving boolean
) returns void language plpgsql as $$
begin
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  insert into replica (id, nonce, lease_ms, renewed_at, version, host, leaving)
    values (new_id, '3:' || new_nonce, new_lease_ms, clock_timestamp(), new_version, new_host, is_leaving)
    on conflict (id) do update set nonce = excluded.nonce, lease_ms = excluded.lease_ms,
      renewed_at = excluded.renewed_at, version = excluded.version, host = excluded.host, leaving = excluded.leaving;
end $$;

-- As in 0021, but for `limits` in `change`. 'burst-alone' where the account would have a burst and no rate.
create or replace function account_update_parent(
  request jsonb, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
  made account;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform limits_begin(change -> 'limits');
  if change ? 'max_api_keys' then
    -- Mints for sub-accounts do not lock this row.
    perform change_fence(of_id);
  end if;
  if change ? 'external_id' then
    perform parent_external_id_begin(change ->> 'external_id');
  end if;
  select * into old from account a where a.id = of_id and a.parent_id is null for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;

  made := old;
  if change ? 'name' then
    made.name := change ->> 'name';
  end if;
  if change ? 'external_id' then
    made.external_id := change ->> 'external_id';
    select p.account_id into holder from parent_external_id p
      where p.external_id = made.external_id and p.account_id <> of_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if change ? 'metadata' then
    made.metadata := jsonb_strip_nulls(old.metadata || (change -> 'metadata'));
    if (select count(*) from jsonb_object_keys(made.metadata)) > max_pairs then
      outcome := 'too-many-pairs';
      return;
    end if;
  end if;

  if change ? 'max_sub_accounts' then
    made.max_sub_accounts := (change ->> 'max_sub_accounts')::int;
  end if;
  if change ? 'max_api_keys' then
    made.max_api_keys := (change ->> 'max_api_keys')::int;
  end if;

  made := account_limited(made, change -> 'limits');
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        max_sub_accounts = made.max_sub_accounts, max_api_keys = made.max_api_keys,
        requests_per_second = made.requests_per_second, burst = made.burst, requests_per_month = made.requests_per_month,
        updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  perform change_note(request, null);
  if made.external_id is distinct from old.external_id then
    seq := coherence_record(array_remove(array[
      'a:' || of_id, parent_external_id_log_key(old.external_id), parent_external_id_log_key(made.external_id)
    ], null));
  elsif (made.requests_per_second, made.burst, made.requests_per_month)
    is distinct from (old.requests_per_second, old.burst, old.requests_per_month)
  then
    seq := coherence_record(array['a:' || of_id]);
  elsif change ?| array['external_id', 'limits'] then
    seq := coherence_position();
  end if;
end $$;

-- As in 0007, but for `limits` in `change`. 'burst-alone' as above.
create or replace function account_update_sub(
  request jsonb, of_parent uuid, of_id uuid, change jsonb, max_pairs int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  old account;
  made account;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform limits_begin(change -> 'limits');
  if change ? 'external_id' then
    perform from account a where a.id = of_parent for no key update;
  end if;
  select * into old from account a where a.id = of_id and a.parent_id = of_parent for no key update;
  if not found then
    outcome := 'none';
    return;
  end if;

  made := old;
  if change ? 'name' then
    made.name := change ->> 'name';
  end if;
  if change ? 'external_id' then
    made.external_id := change ->> 'external_id';
    select a.id into holder from account a
      where a.parent_id = of_parent and a.external_id = made.external_id and a.id <> of_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if change ? 'metadata' then
    made.metadata := jsonb_strip_nulls(old.metadata || (change -> 'metadata'));
    if (select count(*) from jsonb_object_keys(made.metadata)) > max_pairs then
      outcome := 'too-many-pairs';
      return;
    end if;
  end if;

  made := account_limited(made, change -> 'limits');
  if made.burst is not null and made.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata,
        requests_per_second = made.requests_per_second, burst = made.burst, requests_per_month = made.requests_per_month,
        updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  perform change_note(request, null);
  if made.external_id is distinct from old.external_id then
    seq := coherence_record(array_remove(array[
      'a:' || of_id, 'x:' || of_parent || ':' || old.external_id, 'x:' || of_parent || ':' || made.external_id
    ], null));
  elsif (made.requests_per_second, made.burst, made.requests_per_month)
    is distinct from (old.requests_per_second, old.burst, old.requests_per_month)
  then
    seq := coherence_record(array['a:' || of_id]);
  elsif change ?| array['external_id', 'limits'] then
    seq := coherence_position();
  end if;
end $$;

-- As in 0021, but for the limits that the sub-account begins with, in a member `limits` of `request`. Nothing remembers an account
-- that is not there yet, so no replica needs to hear of them.
create or replace function account_create_sub(
  request jsonb,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
  made account;
  limited account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    -- The request that made it may still be waiting for its position, which is this one or an older one.
    seq := case outcome when 'again' then coherence_position() end;
    return;
  end if;
  perform limits_begin(request -> 'limits');
  limited := account_limited(limited, request -> 'limits');
  if limited.burst is not null and limited.requests_per_second is null then
    outcome := 'burst-alone';
    return;
  end if;
  -- Creates under one parent queue up here: the limit and the external_id are checked against what the one before left.
  select * into parent from account a where a.id = new_parent and a.parent_id is null for no key update;
  if not found then
    outcome := 'no-parent';
    return;
  end if;
  if new_external_id is not null then
    select a.id into holder from account a where a.parent_id = new_parent and a.external_id = new_external_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  if parent.sub_accounts >= coalesce(parent.max_sub_accounts, max_sub_accounts) then
    outcome := 'limit';
    account := jsonb_build_object('limit', coalesce(parent.max_sub_accounts, max_sub_accounts));
    return;
  end if;

  insert into account
      (id, parent_id, name, external_id, status, metadata, requests_per_second, burst, requests_per_month)
    values (new_id, new_parent, new_name, new_external_id, 'active', new_metadata, limited.requests_per_second,
      limited.burst, limited.requests_per_month)
    returning * into made;
  update account a set sub_accounts = a.sub_accounts + 1, active_sub_accounts = a.active_sub_accounts + 1
    where a.id = new_parent;
  outcome := 'done';
  account := to_jsonb(made);
  perform change_note(request, account);
  if parent.active_sub_accounts = 0 then
    seq := coherence_record(array['n:' || new_parent]);
  else
    -- The first active one, or the external_id that another one gave up, may not have reached every replica yet.
    seq := coherence_awaited(array['n:' || new_parent, 'x:' || new_parent || ':' || new_external_id]);
  end if;
end $$;

-- As in 0015, but for `limits` in `request`, which are merged into what it has.
create or replace function account_put_sub(
  request jsonb,
  of_parent uuid, of_external_id text, new_id uuid, new_name text, new_metadata jsonb, max_sub_accounts int, max_pairs int,
  out outcome text, out seq bigint, out created boolean, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  there account;
begin
  created := false;
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  select * into there from account a where a.parent_id = of_parent and a.external_id = of_external_id;
  if found and there.name = new_name and there.metadata = jsonb_strip_nulls(there.metadata || new_metadata)
    and account_limited(there, request -> 'limits') is not distinct from there
  then
    outcome := 'done';
    account := to_jsonb(there);
    perform change_note(request, null);
  else
    perform from account a where a.id = of_parent and a.parent_id is null for no key update;
    if not found then
      outcome := 'no-parent';
      return;
    end if;
    select * into there from account a where a.parent_id = of_parent and a.external_id = of_external_id;
    if found then
      select c.outcome, c.seq, c.account into outcome, seq, account from account_update_sub(
        request, of_parent, there.id,
        jsonb_build_object('name', new_name, 'metadata', new_metadata)
          || case when request ? 'limits' then jsonb_build_object('limits', request -> 'limits') else '{}' end,
        max_pairs
      ) c;
    elsif (select count(*) from jsonb_each(new_metadata) m where m.value <> 'null') > max_pairs then
      outcome := 'too-many-pairs';
    else
      select c.outcome, c.seq, c.account into outcome, seq, account from account_create_sub(
        request, of_parent, new_id, new_name, of_external_id, jsonb_strip_nulls(new_metadata), max_sub_accounts
      ) c;
      created := outcome = 'done';
    end if;
  end if;
  if outcome = 'done' then
    seq := greatest(seq, coherence_awaited(array[
      'n:' || of_parent, 'a:' || (account ->> 'id'), 'x:' || of_parent || ':' || of_external_id
    ]));
  end if;
end $$;
