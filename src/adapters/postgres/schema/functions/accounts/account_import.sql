-- Imports many parents or sub-accounts in one call. A row of a sub-account names its parent. Each row is created, updated, left unchanged, or rejected for its own reason.
--
-- `new_rows` is an array of objects. `results` has one object per row, in the same order, with the row's `outcome` and
-- the `id` of its account or key; a rejected row may have no `id`, or an unused one. `outcome` is 'created', 'updated'
-- or 'unchanged', or else the reason for a rejection:
-- - 'no-account' or 'no-sub-account' if the account that the row names does not exist;
-- - 'external-id-taken' if an account with another id has the row's external_id;
-- - 'no-plan' if the plan that the row names does not exist;
-- - 'id-taken', 'too-many-pairs', 'limit' or 'key-taken'.
--
-- `max_sub_accounts` applies to parents that have no maximum of their own. With `is_plan`, the outcomes say what would happen, and nothing is locked or written.
--
-- A row of a sub-account or a key names its parent by `parent` (an id) or `parent_external_id`. An earlier call may
-- have imported the same rows and failed before its 2xx. So `seq` is never older than the changes of that call.
--
-- Before its first write, a call locks every row that it is going to write, top down like any single change: parents
-- first, then sub-accounts, each in id order. Only one call writes at a time.
--
-- Each session plans these statements once. A plan made while the tables are empty would keep scanning whole tables
-- after they have grown, until statistics are gathered. The settings below and `account_named` therefore make PostgreSQL
-- use the indexes.
create or replace function account_import(
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
  has_plan boolean;
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
    -- Another plan may lower the maximum number of keys; see `account_update`.
    perform change_fence(f.id) from (
      select (r.there).id from import_accounts(new_rows) r
      where (r.there).id is not null and r.row_data ? 'plan' and (r.there).plan is distinct from r.row_data ->> 'plan'
      order by (r.there).id
    ) f;
    perform parent_external_id_lock() where exists (select from import_accounts(new_rows) r where r.parent_id is null);
    perform from account a
      where a.id in (
        select r.parent_id from import_accounts(new_rows) r
        where (r.there).id is null or import_outcome(r.there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
    perform from account a
      where a.id in (
        select (r.there).id from import_accounts(new_rows) r where import_outcome(r.there, r.row_data, max_pairs) = 'updated'
      )
      order by a.id for no key update;
    perform plan_hold(array(
      select r.row_data ->> 'plan' from import_accounts(new_rows) r
      union
      select a.plan from import_accounts(new_rows) r join account a on a.id = coalesce(r.parent_id, (r.there).id)
    ));
  end if;
  list := array_fill('{"outcome": "no-account"}'::jsonb, array[jsonb_array_length(new_rows)]);
  -- Rows are ordered by parent, so that each parent's counts are written once, and then by account: another plan may
  -- change quotas, whose rows `quota_ask` locks in the order of their accounts.
  for entry in select * from import_accounts(new_rows) r order by r.parent_id, (r.there).id, r.n loop
    if parent.id is distinct from entry.parent_id then
      if not is_plan then
        perform import_count(parent.id, made);
      end if;
      select * into parent from account a where a.id = entry.parent_id;
      made := 0;
    end if;
    -- A row before may have named the same account in another way.
    select * into there from account_named(entry.parent_id, entry.row_data ->> 'external_id');
    of_id := coalesce(there.id, (entry.row_data ->> 'id')::uuid);
    has_plan := entry.row_data ->> 'plan' is null or exists (select from plan p where p.name = entry.row_data ->> 'plan');
    if there.id is not null then
      of_row := import_outcome(there, entry.row_data, max_pairs);
      if of_row = 'updated' and not has_plan then
        of_row := 'no-plan';
      elsif of_row = 'updated' and not is_plan then
        update account a
          set name = entry.row_data ->> 'name', metadata = jsonb_strip_nulls(a.metadata || (entry.row_data -> 'metadata')),
            plan = case when entry.row_data ? 'plan' then entry.row_data ->> 'plan' else a.plan end, updated_at = now()
          where a.id = of_id;
      end if;
    elsif (select count(*) from jsonb_each(entry.row_data -> 'metadata') m where m.value <> 'null') > max_pairs then
      of_row := 'too-many-pairs';
    elsif parent.sub_accounts + made >= sub_account_limit(parent, max_sub_accounts) then
      of_row := 'limit';
    elsif exists (select from account a where a.id = of_id) then
      of_row := 'id-taken';
    elsif not has_plan then
      of_row := 'no-plan';
    else
      of_row := 'created';
      if not is_plan then
        insert into account (id, parent_id, name, external_id, status, metadata, sub_accounts, active_sub_accounts, plan)
          values (of_id, entry.parent_id, entry.row_data ->> 'name', entry.row_data ->> 'external_id', 'active',
            jsonb_strip_nulls(entry.row_data -> 'metadata'), case when entry.parent_id is null then 0 end,
            case when entry.parent_id is null then 0 end, entry.row_data ->> 'plan')
          on conflict (id) do nothing;
        of_row := case when found then 'created' else 'id-taken' end;
      end if;
      made := made + (of_row = 'created')::int;
    end if;
    list[entry.n] := jsonb_build_object('outcome', of_row, 'id', of_id);
    awaited := awaited || array[
      'n:' || entry.parent_id, 'a:' || of_id,
      'x:' || coalesce(entry.parent_id, '00000000-0000-0000-0000-000000000000') || ':' || (entry.row_data ->> 'external_id'),
      'p:' || (entry.row_data ->> 'plan')
    ];
  end loop;
  outcome := 'done';
  results := to_jsonb(list);
  if not is_plan then
    perform import_count(parent.id, made);
    seq := greatest(change_end(request, results), coherence_awaited(awaited));
  end if;
end $$;
