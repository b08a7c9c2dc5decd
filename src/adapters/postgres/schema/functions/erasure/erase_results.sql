-- Erases what the next `most` results of requests with an Idempotency-Key say about deleted accounts, and counts them in
-- the erasures of these accounts. Goes on after the result (`at_caller`, `at_key`), in primary key order, and returns
-- the last result that it looked at, or nulls if fewer than `most` were left.
--
-- If nothing of a result is left, its fingerprint is erased, too: names could be guessed from it. `idempotency_claim`
-- then accepts every request with this key as a repeated one, and `change_begin` rejects it.
create or replace function erase_results(inout at_caller uuid, inout at_key bytea, most int) language plpgsql as $$
declare
  looked_at int;
begin
  with looked as materialized (
    select i.caller_key_id, i.key, i.made, result_erased(i.made) as erased from idempotency i
    where (i.caller_key_id, i.key) > (at_caller, at_key) order by i.caller_key_id, i.key limit most
  ), changed as (
    update idempotency i
      set made = l.erased,
        fingerprint = case when result_is_deleted(l.made) then erased_fingerprint() else i.fingerprint end
      from looked l
      where i.caller_key_id = l.caller_key_id and i.key = l.key and l.erased is distinct from l.made
      returning i.caller_key_id, i.key, i.made
  ), counted as (
    select j.account_id, count(distinct (c.caller_key_id, c.key)) as results
    from changed c, result_records(c.made) r
      join account a on a.id = record_account(r.record)
      join erasure j on j.account_id in (a.id, a.parent_id) and j.erased_at is null
    group by j.account_id
  ), noted as (
    update erasure j set idempotency_records = j.idempotency_records + c.results
      from counted c where j.account_id = c.account_id
  )
  select l.n, l.caller_key_id, l.key into looked_at, at_caller, at_key
    from (select count(*) over () as n, caller_key_id, key from looked) l
    order by l.caller_key_id desc, l.key desc limit 1;
  if looked_at is distinct from most then
    at_caller := null;
    at_key := null;
  end if;
end $$;
