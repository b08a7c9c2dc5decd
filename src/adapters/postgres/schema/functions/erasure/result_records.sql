-- Returns the accounts and keys in `made`, the result of a request with an Idempotency-Key: a single one, or the keys of
-- an import in their order. Other results have none: those of operators' imports hold only ids.
create or replace function result_records(made jsonb) returns table (n bigint, record jsonb) language sql immutable as $$
  select r.n, r.record
  from jsonb_array_elements(
    case when jsonb_typeof(made -> 'keys') = 'array' then made -> 'keys' else jsonb_build_array(made) end
  ) with ordinality r (record, n)
  where record_account(r.record) is not null
$$;
