-- Erases the results of requests with an Idempotency-Key that are about deleted accounts, about `most` at a time. The
-- records stay until they expire, so that a request that is sent again does not create the account again.
--
-- One pass over all results (`erasure_pass`) serves every account that had been deleted for `settled` when the pass
-- began, also those whose erasures have not come to this step yet: however many accounts are deleted, the results are
-- read once. An erasure that a finished pass has served goes on at once.
create or replace function erase_idempotency(job erasure, settled interval, most int) returns erasure
language plpgsql as $$
declare
  pass erasure_pass;
begin
  select * into pass from erasure_pass for update;
  if job.deleted_at <= pass.served_until then
    job.step := 'log';
    return job;
  end if;
  if pass.at_caller is null then
    pass.serves_until := clock_timestamp() - settled;
    pass.at_caller := '00000000-0000-0000-0000-000000000000';
    pass.at_key := '';
  end if;
  select r.at_caller, r.at_key into pass.at_caller, pass.at_key from erase_results(pass.at_caller, pass.at_key, most) r;
  if pass.at_caller is null then
    pass.served_until := pass.serves_until;
  end if;
  update erasure_pass p
    set served_until = pass.served_until, serves_until = pass.serves_until, at_caller = pass.at_caller,
      at_key = pass.at_key;
  return job;
end $$;
