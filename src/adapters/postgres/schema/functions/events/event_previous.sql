-- Returns the old values of the changed columns. `updated_at` is left out, because the previous event contains its old
-- value.
create or replace function event_previous(before jsonb, after jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') from jsonb_each(before) b
  where b.key <> 'updated_at' and after -> b.key is distinct from b.value
$$;
