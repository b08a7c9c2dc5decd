-- Erases what the next `most` results of requests with an Idempotency-Key say about deleted accounts, and counts them in
-- the erasures of these accounts. Goes on after the result (`at_caller`, `at_key`), in primary key order, and returns
-- the last result that it looked at, or nulls if fewer than `most` were left.
--
-- If nothing of a result is left, its fingerprint is erased, too: names could be guessed from it. `idempotency_claim`
-- then accepts every request with this key as a repeated one, and `change_begin` rejects it.
--
-- The settings make PostgreSQL use the indexes, as in `account_import`.
create or replace function erase_results(inout at_caller uuid, inout at_key bytea, most int) language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off as $$
declare
  noted record;
  erased jsonb;
  looked_at int := 0;
begin
  for noted in
    select i.caller_key_id, i.key, i.made from idempotency i
    where (i.caller_key_id, i.key) > (at_caller, at_key) order by i.caller_key_id, i.key limit most
  loop
    looked_at := looked_at + 1;
    at_caller := noted.caller_key_id;
    at_key := noted.key;
    -- Most results are about accounts that are still there. This query finds them faster than `result_erased` would.
    continue when not exists (
      select from result_records(noted.made) r where not account_is_there(record_account(r.record))
    );
    erased := result_erased(noted.made);
    continue when erased is not distinct from noted.made;
    update idempotency i
      set made = erased, fingerprint = case when result_is_deleted(erased) then erased_fingerprint() else i.fingerprint end
      where i.caller_key_id = at_caller and i.key = at_key;
    update erasure j set idempotency_records = j.idempotency_records + 1
      where j.erased_at is null and j.account_id in (
        select unnest(array[a.id, a.parent_id]) from result_records(erased) r
          join account a on a.id = record_account(r.record)
      );
  end loop;
  if looked_at < most then
    at_caller := null;
    at_key := null;
  end if;
end $$;
