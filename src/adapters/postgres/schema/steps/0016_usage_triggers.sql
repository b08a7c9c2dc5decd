-- compatible with: 6
-- locks for a moment: usage_hourly
-- This trigger notes late changes to hourly usage (`usage_hourly_changed`). It is a row trigger with a condition, so it
-- costs batches, which note their late changes themselves, next to nothing. A transition table would get every row.

create trigger usage_hourly_changed after insert or update or delete on usage_hourly
  for each row when (current_setting('tenancy_gateway.usage_noted', true) is distinct from 'on')
  execute function usage_hourly_changed();
