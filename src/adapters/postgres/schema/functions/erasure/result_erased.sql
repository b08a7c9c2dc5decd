-- Returns the result of a request with an Idempotency-Key without the names, external_ids and metadata of deleted
-- accounts and of their keys. The other keys of an import stay unchanged.
create or replace function result_erased(made jsonb) returns jsonb language sql stable as $$
  select case when jsonb_typeof(made -> 'keys') = 'array'
    then jsonb_set(made, '{keys}', coalesce(r.records, '[]')) else coalesce(r.records -> 0, made) end
  from (
    select jsonb_agg(
      case when account_is_there(record_account(e.record)) then e.record
        else erased(e.record) || jsonb_build_object('name', erased_name()) end
      order by e.n
    ) as records
    from result_records(made) e
  ) r
$$;
