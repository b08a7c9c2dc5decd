-- Erases the next accounts of `job`, each followed by its keys in id order, up to `most` rows in all. The deleted account
-- comes first, then its sub-accounts in id order. `at_account` is the account whose keys are being erased, and `at_item`
-- is the last of them that is done. The keys are revoked, whether they have expired or not.
create or replace function erase_accounts(job erasure, most int) returns erasure language plpgsql as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  left_over int := most;
  keys uuid[];
begin
  while left_over > 0 loop
    if job.at_item is null then
      if job.at_account is null then
        job.at_account := job.account_id;
        delete from portal_session s where s.account_id = job.account_id or s.sub_account_id = job.account_id;
      else
        select a.id into job.at_account from account a
          where a.parent_id >= job.account_id and a.parent_id <= job.account_id
            and (a.parent_id, a.id) > (job.account_id, coalesce(nullif(job.at_account, job.account_id), nil))
          order by a.parent_id, a.id limit 1;
        if not found then
          job.step := 'events';
          return job;
        end if;
        update account a
          set name = erased_name(), external_id = null, metadata = '{}', status = 'deactivated',
            deactivated_at = coalesce(a.deactivated_at, now()), updated_at = now(), deleted_at = job.deleted_at
          where a.id = job.at_account and a.deleted_at is null;
      end if;
      job.accounts := job.accounts + 1;
      left_over := left_over - 1;
      job.at_item := nil;
    end if;
    keys := array(
      select k.id from api_key k
      where k.account_id >= job.at_account and (k.account_id, k.id) > (job.at_account, job.at_item)
        and k.account_id <= job.at_account
      order by k.account_id, k.id limit left_over for no key update
    );
    update api_key k set name = erased_name(), revoked_at = coalesce(k.revoked_at, now()) where k.id = any (keys);
    job.api_keys := job.api_keys + cardinality(keys);
    if cardinality(keys) < left_over then
      job.at_item := null;
    elsif cardinality(keys) > 0 then
      job.at_item := keys[cardinality(keys)];
    end if;
    left_over := left_over - cardinality(keys);
  end loop;
  return job;
end $$;
