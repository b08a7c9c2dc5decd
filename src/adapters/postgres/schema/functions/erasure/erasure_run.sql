-- Erases the next batch of at most about `most` rows of the account that was deleted first. Returns null if nothing can
-- be done now; otherwise the erasure as it stands after the batch. Only one caller at a time erases; the others return
-- null. `erasure_next` says which erasure comes first.
--
-- An account is erased only once it has been deleted for `settled`. A change that began before the deletion has then
-- ended, so it cannot write a name after the batch has passed. `settled` is longer than any statement may take.
--
-- The batch writes no events: `account.deleted` or `sub_account.deleted` stands for all of it. The facts of the changed
-- rows are logged as in any change, so no replica and no cache keeps an erased external_id.
create or replace function erasure_run(settled interval, most int) returns erasure language plpgsql as $$
declare
  job erasure;
begin
  if not pg_try_advisory_xact_lock(7311970461) then
    return null;
  end if;
  perform require_settings();
  job := erasure_next(settled);
  if job.account_id is null then
    return null;
  end if;
  perform set_config('tenancy_gateway.erasing', 'on', true);
  job := case job.step
    when 'accounts' then erase_accounts(job, most)
    when 'events' then erase_events(job, most)
    when 'idempotency' then erase_idempotency(job, settled, most)
    else erase_log(job, most)
  end;
  if job.account_id is null then
    return null;
  end if;
  update erasure j
    set erased_at = job.erased_at, step = job.step, at_account = job.at_account, at_item = job.at_item,
      at_position = job.at_position, accounts = job.accounts, api_keys = job.api_keys, events = job.events
    where j.account_id = job.account_id returning * into job;
  perform set_config('tenancy_gateway.uncounted', '', true);
  perform change_position();
  perform set_config('tenancy_gateway.erasing', 'off', true);
  return job;
end $$;
