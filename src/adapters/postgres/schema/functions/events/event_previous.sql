-- The former values of the columns that changed. `updated_at` is when that was, and the event before it says that.
create or replace function event_previous(before jsonb, after jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') from jsonb_each(before) b
  where b.key <> 'updated_at' and after -> b.key is distinct from b.value
$$;
