-- Returns a sum of units, at most 2^53 - 1: the largest whole number that every JSON reader reads exactly. A null sum is 0.
create or replace function units_sum(total numeric) returns bigint language sql immutable as $$
  select least(coalesce(total, 0), 9007199254740991)::bigint
$$;
