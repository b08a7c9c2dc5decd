-- Imports sub-accounts of any parents; see `account_import`. `max_sub_accounts` applies to parents that have no maximum
-- of their own.
create or replace function account_import_subs(
  request jsonb, new_rows jsonb, max_sub_accounts int, max_pairs int, is_plan boolean,
  out outcome text, out seq bigint, out results jsonb
) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
#variable_conflict use_column
declare
  entry record;
  there account;
  parent account;
  of_row text;
  of_id uuid;
  made int := 0;
  list jsonb[];
  awaited text[] := '{}';
begin
  select b.outcome, b.made, b.seq into outcome, results, seq from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  if not is_plan then
    perform import_begin();
    perform from account a
      where a.id in (
        select r.parent_id from import_parents(new_rows) r
          left join account there on there.parent_id = r.parent_id and there.external_id = r.row_data ->> 'external_id'
        where there.id is null or import_outcome(there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
    perform from account a
      where a.id in (
        select there.id from import_parents(new_rows) r
          join account there on there.parent_id = r.parent_id and there.external_id = r.row_data ->> 'external_id'
        where import_outcome(there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
    perform plan_hold_of(array(select r.parent_id from import_parents(new_rows) r));
  end if;
  list := array_fill('{"outcome": "no-account"}'::jsonb, array[jsonb_array_length(new_rows)]);
  -- Rows are ordered by parent, so that each parent's counts are written once.
  for entry in select * from import_parents(new_rows) r order by r.parent_id, r.n loop
    if parent.id is distinct from entry.parent_id then
      if not is_plan then
        perform import_count(parent.id, made);
      end if;
      select * into parent from account a where a.id = entry.parent_id;
      made := 0;
    end if;
    of_id := (entry.row_data ->> 'id')::uuid;
    select * into there from account_named(entry.parent_id, entry.row_data ->> 'external_id');
    if found then
      of_id := there.id;
      of_row := import_outcome(there, entry.row_data, max_pairs);
      if of_row = 'updated' and not is_plan then
        update account a
          set name = entry.row_data ->> 'name', metadata = jsonb_strip_nulls(a.metadata || (entry.row_data -> 'metadata')),
            updated_at = now()
          where a.id = of_id;
      end if;
    elsif (select count(*) from jsonb_each(entry.row_data -> 'metadata') m where m.value <> 'null') > max_pairs then
      of_row := 'too-many-pairs';
    elsif parent.sub_accounts + made >= sub_account_limit(parent, max_sub_accounts) then
      of_row := 'limit';
    elsif exists (select from account a where a.id = of_id) then
      of_row := 'id-taken';
    else
      of_row := 'created';
      if not is_plan then
        insert into account (id, parent_id, name, external_id, status, metadata)
          values (of_id, entry.parent_id, entry.row_data ->> 'name', entry.row_data ->> 'external_id', 'active',
            jsonb_strip_nulls(entry.row_data -> 'metadata'))
          on conflict (id) do nothing;
        of_row := case when found then 'created' else 'id-taken' end;
      end if;
      made := made + (of_row = 'created')::int;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
    awaited := awaited || array[
      'n:' || entry.parent_id, 'a:' || of_id, 'x:' || entry.parent_id || ':' || (entry.row_data ->> 'external_id')
    ];
  end loop;
  outcome := 'done';
  results := to_jsonb(list);
  if not is_plan then
    perform import_count(parent.id, made);
    seq := greatest(change_end(request, results), coherence_awaited(awaited));
  end if;
end $$;
