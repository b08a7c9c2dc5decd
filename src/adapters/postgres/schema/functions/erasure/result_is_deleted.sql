-- Returns whether nothing of `made`, the result of a request with an Idempotency-Key, is left: its account has been
-- deleted, or the owners of all keys of an import have been.
create or replace function result_is_deleted(made jsonb) returns boolean language sql stable as $$
  select coalesce(bool_and(not account_is_there(record_account(r.record))), false) from result_records(made) r
$$;
