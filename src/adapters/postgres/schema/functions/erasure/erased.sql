-- Returns an account or a key, or the former values of one, without its name, external_id and metadata.
create or replace function erased(of_record jsonb) returns jsonb language sql immutable as $$
  select of_record || coalesce(
    (
      select jsonb_object_agg(e.key, e.value) from jsonb_each('{"name": null, "external_id": null, "metadata": {}}') e
      where of_record ? e.key
    ),
    '{}'
  )
$$;
