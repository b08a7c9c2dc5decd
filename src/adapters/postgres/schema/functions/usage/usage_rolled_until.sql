-- Returns the first day for which an account's hourly rows have not been rolled up into daily rows (`usage_roll_up`).
-- From that day on, reports have to read the hourly rows.
create or replace function usage_rolled_until(kept usage_kept, root uuid, account uuid) returns date
language sql immutable as $$
  select case when (root, account) <= (kept.root_id, kept.account_id) then kept.rolling_until else kept.rolled_until end
$$;
