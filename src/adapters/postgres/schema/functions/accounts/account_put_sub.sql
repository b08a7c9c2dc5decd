-- Creates the sub-account with this external_id, or updates it if it exists. `new_metadata` and the limits in `request`
-- are merged as in a PATCH, even for a new account. An existing account keeps its status. If the account already
-- matches the request, no account is locked or written.
--
-- If the account is missing or differs from the request, this function locks the parent. Every change that sets an
-- external_id under the parent does the same. If several requests for the same external_id compete, the first one
-- creates the account, and the others wait and then update it.
--
-- `outcome` is 'done', 'no-parent', 'limit', 'too-many-pairs' or 'burst-alone'; `created` says whether the account is
-- new. Another request may have created the account and failed before its 2xx, so some replicas may not have confirmed
-- the creation yet. Then `seq` covers that creation, too, and the 2xx of this request waits for it.
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
  select * into there from account_named(of_parent, of_external_id);
  if found and there.name = new_name and there.metadata = jsonb_strip_nulls(there.metadata || new_metadata)
    and account_limited(there, request -> 'limits') is not distinct from there
  then
    outcome := 'done';
    account := account_shown(there);
    seq := change_end(request, null);
  else
    perform from account a where a.id = of_parent and a.parent_id is null and a.deleted_at is null for no key update;
    if not found then
      outcome := 'no-parent';
      return;
    end if;
    select * into there from account_named(of_parent, of_external_id);
    if found then
      select c.outcome, c.seq, c.account into outcome, seq, account from account_update(
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
