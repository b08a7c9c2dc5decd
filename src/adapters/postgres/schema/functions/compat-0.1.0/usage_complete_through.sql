-- 0.1.0 reads by this up to when its reports are complete.
create or replace function usage_complete_through() returns timestamptz language sql stable as $$
  select c.through from usage_completeness(interval '1 day', now(), now()) c
$$;
