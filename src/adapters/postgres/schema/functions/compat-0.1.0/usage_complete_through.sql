-- Returns the time up to which reports of 0.1.0 are complete.
create or replace function usage_complete_through() returns timestamptz language sql stable as $$
  select c.through from usage_completeness(interval '1 day', now(), now()) c
$$;
