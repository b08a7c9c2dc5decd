-- compatible with: 6
-- locks for a moment: usage_hourly
-- Triggers keep the days equal to their hours.

create trigger usage_hourly_inserted after insert on usage_hourly referencing new table as added
  for each statement execute function usage_hourly_changed();
create trigger usage_hourly_updated after update on usage_hourly referencing new table as added old table as removed
  for each statement execute function usage_hourly_changed();
create trigger usage_hourly_deleted after delete on usage_hourly referencing old table as removed
  for each statement execute function usage_hourly_changed();

-- From here until this step commits, `usage_hourly` has no writers.
insert into usage_kept (root_id, account_id) select id, id from (
  select case when exists (select from usage_hourly) then '00000000-0000-0000-0000-000000000000'
    else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end::uuid
) first (id);
