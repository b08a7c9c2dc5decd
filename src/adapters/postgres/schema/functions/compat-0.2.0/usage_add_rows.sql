-- Adds the rows of a journal of 0.2.0, which have no units.
create or replace function usage_add_rows(
  journal text, from_position bigint, to_position bigint, counts usage_counted[], keys_per_account_hour int,
  through_ms double precision, of_host text
) returns table (rows_in bigint, now_ms double precision) language sql volatile as $$
  select * from usage_add_rows(journal, from_position, to_position, counts, null, keys_per_account_hour, through_ms, of_host)
$$;
