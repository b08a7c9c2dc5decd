-- Tells whether a request is 'new', an earlier one 'again' (with the record that it made), or to be refused: 'mismatch',
-- 'in-flight'. Two requests at the same time are told apart without waiting, for as long as the transaction of the first
-- one lasts. A change calls this before it locks anything, so what this waits for cannot wait for the caller.
--
-- The lock on the noted row makes the commit of a request that is sent again wait for the disk and for a synchronous
-- standby: the first attempt may have been committed by a server that went away before its standby had it.
--
-- Each new request deletes some that have long expired, so they cannot pile up. Long, so that none is deleted that a
-- transaction which began a little earlier still counts on.
create or replace function idempotency_claim(
  caller uuid, request_key bytea, request_fingerprint bytea, out outcome text, out made jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  kept_for constant interval := '24 hours';
  noted idempotency;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(caller || encode(request_key, 'hex'), 0)) then
    outcome := 'in-flight';
    return;
  end if;
  select * into noted from idempotency i
    where i.caller_key_id = caller and i.key = request_key and i.at > now() - kept_for for update;
  if found then
    if current_setting('synchronous_commit') = 'off' then
      perform set_config('synchronous_commit', 'on', true);
    end if;
    outcome := case when noted.fingerprint = request_fingerprint then 'again' else 'mismatch' end;
    made := case when outcome = 'again' then noted.made end;
    return;
  end if;
  outcome := 'new';
  delete from idempotency i where i.caller_key_id = caller and i.key = request_key;
  delete from idempotency i where i.ctid = any (array(
    select e.ctid from idempotency e
    where e.at < now() - kept_for - interval '1 hour' order by e.at limit 20 for update skip locked
  ));
end $$;
