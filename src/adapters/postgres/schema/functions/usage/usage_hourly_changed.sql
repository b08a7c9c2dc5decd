-- This trigger notes late changes: changes to closed hours, and to days that have already been rolled up. The trigger
-- sees the changes of every statement, whichever function or version of the gateway runs it. Two functions turn it off:
-- `usage_count` notes its late changes itself, and `usage_prune_hours` deletes hourly rows whose daily rows stay.
create or replace function usage_hourly_changed() returns trigger language plpgsql as $$
declare
  late_until constant timestamptz := usage_late_until();
begin
  if tg_op <> 'DELETE' and new.hour < late_until then
    perform usage_late_lock();
    perform usage_note_late(array[new], 1);
  end if;
  if tg_op <> 'INSERT' and old.hour < late_until then
    perform usage_late_lock();
    perform usage_note_late(array[old], -1);
  end if;
  return null;
end $$;
