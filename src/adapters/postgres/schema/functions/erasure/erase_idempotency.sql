-- Erases the results of requests with an Idempotency-Key that are about deleted accounts, and the fingerprints of these
-- requests. Looks at the next `most` requests, in primary key order; the last of them that is done is
-- (`at_account`, `at_key`). The records themselves stay until they expire, so that a request that is sent again does not
-- create the account again.
create or replace function erase_idempotency(job erasure, most int) returns erasure language plpgsql as $$
declare
  looked_at int;
  found_keys int;
begin
  with looked as materialized (
    select i.caller_key_id, i.key, i.made from idempotency i
    where (i.caller_key_id, i.key)
      > (coalesce(job.at_account, '00000000-0000-0000-0000-000000000000'), coalesce(job.at_key, ''))
    order by i.caller_key_id, i.key limit most
  ), changed as (
    update idempotency i set made = result_erased(i.made), fingerprint = decode(repeat('00', 32), 'hex')
      from looked l
      where i.caller_key_id = l.caller_key_id and i.key = l.key and result_is_deleted(l.made)
      returning i.key
  )
  select (select count(*) from looked), (select count(*) from changed), l.caller_key_id, l.key
    into looked_at, found_keys, job.at_account, job.at_key
    from (select 1) one left join lateral (
      select caller_key_id, key from looked order by caller_key_id desc, key desc limit 1
    ) l on true;
  job.idempotency_records := job.idempotency_records + found_keys;
  if looked_at < most then
    job.step := 'log';
  end if;
  return job;
end $$;
