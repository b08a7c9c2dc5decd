-- compatible with: 4
-- locks for a moment: account
-- Parents with an external_id and metadata, accounts whose id the operator gives, and lists in the order of creation.
--
-- Replicas of 0.1.0 read accounts as before: they know the columns, and remember a parent's external_id without sending it.
-- They go on listing by id, along the indexes of 0001 (`account_of_parent_by_status` is for them alone now).

-- A parent may have an external_id and metadata from now on; the rest is as in 0001. Not validated, since that would read the
-- whole table under the lock: what is there has satisfied the stricter constraint.
alter table account
  drop constraint account_kind,
  add constraint account_kind check (
    case when parent_id is null
      then status in ('active', 'suspended') and deactivated_at is null
        and sub_accounts is not null and active_sub_accounts is not null
      else status in ('active', 'deactivated') and (status = 'deactivated') = (deactivated_at is not null)
        and sub_accounts is null and active_sub_accounts is null
    end
  ) not valid,
  -- The nil UUID stands for "no parent" below, the last one for the end of a list.
  add constraint account_id check (
    id not in ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  ) not valid;

-- An external_id belongs to one parent. A table, since an index on `account` would keep its writers out while it is built.
create table parent_external_id (
  external_id text collate "C" primary key,
  account_id uuid not null unique
);

-- Where every account stands in its list. Ids that operators give do not sort by time, so lists cannot go by id alone.
create table account_listed (
  -- The parent; the nil UUID for parents themselves.
  owner_id uuid not null,
  created_at timestamptz(3) not null,
  id uuid not null,
  primary key (owner_id, created_at, id)
);

-- Keeps both in step with `account`, whichever version of the gateway writes it.
create function account_index() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from parent_external_id p where p.account_id = old.id;
  end if;
  if tg_op = 'INSERT' then
    insert into account_listed (owner_id, created_at, id)
      values (coalesce(new.parent_id, '00000000-0000-0000-0000-000000000000'), new.created_at, new.id)
      on conflict do nothing;
  elsif tg_op = 'DELETE' then
    delete from account_listed l
      where l.owner_id = coalesce(old.parent_id, '00000000-0000-0000-0000-000000000000')
        and l.created_at = old.created_at and l.id = old.id;
    return null;
  end if;
  if new.parent_id is null and new.external_id is not null then
    insert into parent_external_id (external_id, account_id) values (new.external_id, new.id);
  end if;
  return null;
end $$;

create trigger account_index_on_insert after insert on account for each row execute function account_index();
create trigger account_index_on_delete after delete on account for each row execute function account_index();
create trigger account_index_on_update after update of external_id on account for each row
  when (new.parent_id is null and new.external_id is distinct from old.external_id) execute function account_index();

-- The name in the log of a parent's external_id: as that of a sub-account, with no parent. No fact goes by it; a parent that
-- takes over an external_id waits until every replica has heard that the one before gave it up.
create function parent_external_id_log_key(external_id text) returns text language sql immutable as $$
  select 'x:00000000-0000-0000-0000-000000000000:' || external_id
$$;

-- Changes of parents' external_ids take turns: two that exchange theirs would wait for each other for ever. Called before
-- any row is locked. Replicas of 0.1.0 do not send a parent's external_id to upstreams, so none may be given beside them.
create function parent_external_id_begin(wanted text) returns void language plpgsql as $$
begin
  if wanted is not null then
    perform fleet_require(2);
  end if;
  perform pg_advisory_xact_lock(7311970455);
end $$;

drop function account_create_parent(jsonb, uuid, text);
create function account_create_parent(
  request jsonb, new_id uuid, new_name text, new_external_id text, new_metadata jsonb,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  parent account;
begin
  select b.outcome, b.made into outcome, account from change_begin(request) b;
  if outcome is not null then
    seq := case when outcome = 'again' and account ->> 'external_id' is not null then coherence_position() end;
    return;
  end if;
  if new_external_id is not null then
    perform parent_external_id_begin(new_external_id);
    select p.account_id into holder from parent_external_id p where p.external_id = new_external_id;
    if found then
      outcome := 'taken';
      return;
    end if;
  end if;
  insert into account (id, name, external_id, status, metadata, sub_accounts, active_sub_accounts)
    values (new_id, new_name, new_external_id, 'active', new_metadata, 0, 0)
    on conflict (id) do nothing returning * into parent;
  if not found then
    outcome := 'id-taken';
    return;
  end if;
  outcome := 'done';
  account := to_jsonb(parent);
  perform change_note(request, account);
  if new_external_id is not null then
    seq := coherence_awaited(array[parent_external_id_log_key(new_external_id)]);
  end if;
end $$;

-- `change` is a PATCH, as that of a sub-account.
create function account_update_parent(
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

  if made is distinct from old then
    update account a
      set name = made.name, external_id = made.external_id, metadata = made.metadata, updated_at = now()
      where a.id = of_id returning * into made;
  end if;
  outcome := 'done';
  account := to_jsonb(made);
  perform change_note(request, null);
  if made.external_id is distinct from old.external_id then
    seq := coherence_record(array_remove(array[
      'a:' || of_id, parent_external_id_log_key(old.external_id), parent_external_id_log_key(made.external_id)
    ], null));
  elsif change ? 'external_id' then
    seq := coherence_position();
  end if;
end $$;

-- As `account_create_sub`, with an id that another account may have.
create function account_create_sub_with_id(
  request jsonb,
  new_parent uuid, new_id uuid, new_name text, new_external_id text, new_metadata jsonb, max_sub_accounts int,
  out outcome text, out seq bigint, out holder uuid, out account jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  violated text;
begin
  select c.outcome, c.seq, c.holder, c.account into outcome, seq, holder, account from account_create_sub(
    request, new_parent, new_id, new_name, new_external_id, new_metadata, max_sub_accounts
  ) c;
exception when unique_violation then
  get stacked diagnostics violated = constraint_name;
  if violated <> 'account_pkey' then
    raise;
  end if;
  outcome := 'id-taken';
end $$;
