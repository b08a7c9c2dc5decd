-- Returns the result of a request with an Idempotency-Key without the names, external_ids and metadata of deleted
-- accounts and of their keys. Of an import, the other accounts' keys stay unchanged.
create or replace function result_erased(made jsonb) returns jsonb language sql stable as $$
  select case jsonb_typeof(made -> 'keys')
    when 'array' then jsonb_set(made, '{keys}', (
      select jsonb_agg(case when result_is_deleted(k.key) then erased(k.key) || jsonb_build_object('name', erased_name()) else k.key end order by k.n)
      from jsonb_array_elements(made -> 'keys') with ordinality k (key, n)
    ))
    else erased(made)
  end
$$;
