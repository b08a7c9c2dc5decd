-- Returns a sum of units, at most 2^53 - 1: the largest whole number that every JSON reader reads exactly.
create or replace function units_sum(total numeric) returns bigint language sql immutable as $$
  select least(total, 9007199254740991)::bigint
$$;
