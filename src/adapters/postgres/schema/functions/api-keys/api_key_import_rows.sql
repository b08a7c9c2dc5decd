-- Imports keys for any parents. Each row is imported or rejected on its own; see `account_import` for `new_rows` and
-- `results`. An unchanged key whose scopes differ from its row's is marked by `otherScopes`.
create or replace function api_key_import_rows(
  request jsonb, new_rows jsonb, max_keys int, is_plan boolean, out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
declare
  entry record;
  there record;
  owner uuid;
  keys_of_owner int;
  most int;
  of_row text;
  of_scopes text[];
  of_id uuid;
  list jsonb[];
begin
  select b.outcome, b.made, b.seq into outcome, results, seq from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if not is_plan then
    perform import_begin();
    -- `api_key_import` takes this lock, too, because both functions may be importing the same keys.
    perform pg_advisory_xact_lock(7311970454);
    -- Creating a key takes the same lock on its account, so the counts below include all keys created so far.
    perform from account a
      where a.id in (
        select r.parent_id from import_owners(new_rows) r
        where not exists (select from api_key k where k.digest = (r.row_data ->> 'digest')::bytea)
      )
      order by a.id for no key update;
    perform from account a
      where a.id in (
        select r.owner_id from import_owners(new_rows) r
        where r.owner_id <> r.parent_id
          and not exists (select from api_key k where k.digest = (r.row_data ->> 'digest')::bytea)
      )
      order by a.id for no key update;
    perform plan_hold_of(array(select r.parent_id from import_owners(new_rows) r));
  end if;
  list := array_fill('{"outcome": "no-account"}'::jsonb, array[jsonb_array_length(new_rows)]);
  -- Rows are ordered by owner, so that each owner's keys are counted once.
  for entry in select * from import_owners(new_rows) r order by r.owner_id, r.n loop
    of_id := (entry.row_data ->> 'id')::uuid;
    if entry.owner_id is distinct from owner then
      owner := entry.owner_id;
      keys_of_owner := api_key_count(owner);
      most := api_key_limit(owner, max_keys);
    end if;
    select k.id, k.account_id, k.scopes into there from api_key k where k.digest = (entry.row_data ->> 'digest')::bytea;
    if found and there.account_id is distinct from owner then
      of_row := 'key-taken';
      of_id := null;
    elsif found then
      of_row := 'unchanged';
      of_id := there.id;
    elsif owner is null then
      of_row := 'no-sub-account';
      of_id := null;
    elsif keys_of_owner >= most then
      of_row := 'limit';
      of_id := null;
    else
      of_row := 'created';
      keys_of_owner := keys_of_owner + 1;
      if not is_plan then
        insert into api_key (id, account_id, name, scopes, digest, prefix, last4, expires_at, imported_under)
          select k.id, owner, k.name, k.scopes, k.digest, k.prefix, k.last4, k.expires_at, k.imported_under
          from jsonb_to_record(entry.row_data) as k (
            id uuid, name text, scopes text[], digest bytea, prefix text, last4 text, expires_at timestamptz,
            imported_under text
          );
      end if;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
    if of_row = 'unchanged' then
      of_scopes := array(select jsonb_array_elements_text(entry.row_data -> 'scopes'));
      if not (there.scopes @> of_scopes and there.scopes <@ of_scopes) then
        list[entry.n] := list[entry.n] || '{"otherScopes": true}';
      end if;
    end if;
  end loop;
  if is_plan then
    -- This is only a plan: the actual import may first create an account that does not exist yet. So a row for a
    -- missing account is rejected only if another account already has the row's key.
    select array_agg(
        case when list[r.n] ->> 'outcome' = 'no-account' and k.digest is not null
          then '{"outcome": "key-taken"}'::jsonb else list[r.n] end order by r.n
      ) into list
      from jsonb_array_elements(new_rows) with ordinality r (row_data, n)
        left join api_key k on k.digest = (r.row_data ->> 'digest')::bytea;
  end if;
  outcome := 'done';
  results := to_jsonb(list);
  if not is_plan then
    seq := change_end(request, results, results @> '[{"outcome": "created"}]');
  end if;
end $$;
