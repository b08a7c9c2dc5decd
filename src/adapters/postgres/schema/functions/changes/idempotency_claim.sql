-- Compares a request with earlier requests under the same claim. `outcome` is 'new' if there is none. `outcome` is
-- 'again' if the request repeats an earlier one; `made` is then the record that the earlier one made. `outcome` is
-- 'mismatch' if the earlier request had a different fingerprint; once its fingerprint has been erased (`erase_results`),
-- every request under its claim counts as repeated. `outcome` is 'in-flight' if the earlier request's transaction has
-- not ended; this function does not wait for the transaction's end.
--
-- The first `delete` below may wait for a transaction that is deleting the same expired row. So a change calls this
-- function before it locks the row of any account or key: the other transaction then cannot be waiting for a row that
-- this transaction has locked.
--
-- The lock on the stored row makes the commit of a repeated request wait for the disk and for a synchronous standby.
-- This is needed because the server that committed the first attempt may have failed before its standby received the
-- commit.
--
-- Each new request deletes some long-expired rows, so they cannot pile up. A row that expired within the last hour
-- stays: a transaction that began before the row expired may still read it.
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
    outcome := case when noted.fingerprint in (request_fingerprint, erased_fingerprint()) then 'again' else 'mismatch' end;
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
