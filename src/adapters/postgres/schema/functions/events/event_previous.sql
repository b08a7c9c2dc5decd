-- Returns the old values of the changed columns, except `updated_at`, because the previous event shows that time.
create or replace function event_previous(before jsonb, after jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(b.key, b.value), '{}') from jsonb_each(before) b
  where b.key <> 'updated_at' and after -> b.key is distinct from b.value
$$;
