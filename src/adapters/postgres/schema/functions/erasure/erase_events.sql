-- Erases the next `most` events of `job`, in id order. `at_item` is the last event that is done. Events of a deleted
-- parent include those of its sub-accounts; they also lose the names of the parent's keys. The keys that changed a
-- deleted sub-account are its parent's, so their names stay.
create or replace function erase_events(job erasure, most int) returns erasure language plpgsql as $$
declare
  after constant uuid := coalesce(job.at_item, '00000000-0000-0000-0000-000000000000');
  ids uuid[];
begin
  if job.parent_id is null then
    ids := array(
      select e.id from event e where e.account_id >= job.account_id and (e.account_id, e.id) > (job.account_id, after)
        and e.account_id <= job.account_id
      order by e.account_id, e.id limit most
    );
    perform event_erase(ids, 'names');
  else
    ids := array(
      select e.id from event e
      where e.sub_account_id >= job.account_id and (e.sub_account_id, e.id) > (job.account_id, after)
        and e.sub_account_id <= job.account_id
      order by e.sub_account_id, e.id limit most
    );
    perform event_erase(ids, 'texts');
  end if;
  job.events := job.events + cardinality(ids);
  job.at_item := ids[cardinality(ids)];
  if cardinality(ids) < most then
    job.step := 'idempotency';
    job.at_account := null;
    job.at_item := null;
  end if;
  return job;
end $$;
