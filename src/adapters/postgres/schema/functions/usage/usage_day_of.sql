-- Returns the UTC day that an hour belongs to.
create or replace function usage_day_of(hour timestamptz) returns date language sql immutable as $$
  select (hour at time zone 'UTC')::date
$$;
