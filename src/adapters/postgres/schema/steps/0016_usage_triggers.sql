-- compatible with: 6
-- locks for a moment: usage_hourly
-- These triggers note late changes to hourly usage (`usage_hourly_changed`).

create trigger usage_hourly_inserted after insert on usage_hourly referencing new table as added
  for each statement execute function usage_hourly_changed();
create trigger usage_hourly_updated after update on usage_hourly referencing new table as added old table as removed
  for each statement execute function usage_hourly_changed();
create trigger usage_hourly_deleted after delete on usage_hourly referencing old table as removed
  for each statement execute function usage_hourly_changed();
