-- Returns the id of the account that `of_record`, an account or a key as JSON, is about.
create or replace function record_account(of_record jsonb) returns uuid language sql immutable as $$
  select coalesce(of_record ->> 'account_id', of_record ->> 'id')::uuid
$$;
