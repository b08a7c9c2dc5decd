-- Returns the end of the time, from `first`, for which an account's hours are needed because its days are not there
-- yet: `last` is the day after the wanted days.
create or replace function usage_days_until(kept usage_kept, root uuid, account uuid, first date, last date) returns date
language sql immutable as $$
  select case
    when (root, account) < (kept.root_id, kept.account_id) then last
    when (root, account) > (kept.root_id, kept.account_id) then first
    else greatest(first, least(last, kept.day))
  end
$$;
