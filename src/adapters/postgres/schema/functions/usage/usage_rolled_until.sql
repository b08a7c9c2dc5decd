-- Returns the day before which the hours of an account are added up into days (`usage_roll_up`). From that day on its
-- hours must be read.
create or replace function usage_rolled_until(kept usage_kept, root uuid, account uuid) returns date
language sql immutable as $$
  select case when (root, account) <= (kept.root_id, kept.account_id) then kept.rolling_until else kept.rolled_until end
$$;
