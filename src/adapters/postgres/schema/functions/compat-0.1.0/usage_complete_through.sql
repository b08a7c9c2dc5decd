-- Returns the time up to which usage is complete, for the reports of 0.1.0.
create or replace function usage_complete_through() returns timestamptz language sql stable as $$
  select c.through from usage_completeness(interval '1 day', now(), now()) c
$$;
