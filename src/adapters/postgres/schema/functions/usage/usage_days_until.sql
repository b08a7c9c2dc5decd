-- Returns the day, from `first` to `last`, before which an account's days are added up. From that day on its hours
-- must be read. `last` is the day after the wanted days.
create or replace function usage_days_until(kept usage_kept, root uuid, account uuid, first date, last date) returns date
language sql immutable as $$
  select case
    when (root, account) < (kept.root_id, kept.account_id) then last
    when (root, account) > (kept.root_id, kept.account_id) then first
    else greatest(first, least(last, kept.day))
  end
$$;
