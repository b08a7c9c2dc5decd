-- Deletes reports from before `before`, except those that a replica is writing right now.
create or replace function limit_report_sweep(before timestamptz) returns void language sql as $$
  delete from limit_report r using (
    select o.limit_name, o.replica from limit_report o where o.at < before for update skip locked
  ) old
  where r.limit_name = old.limit_name and r.replica = old.replica
$$;
