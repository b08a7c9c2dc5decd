-- Returns the names of an account's lifted limits after a PATCH: a member with the value "unlimited" is added, and
-- another value takes its name out.
create or replace function unlimited_after(unlimited text[], change jsonb) returns text[] language sql immutable as $$
  select array(
    select u from unnest(unlimited) u where not coalesce(change ? u, false)
    union
    select m.key from jsonb_each(change) m
      where m.value = '"unlimited"' and m.key in (
        'max_sub_accounts', 'max_api_keys', 'requests_per_second', 'requests_per_minute', 'requests_per_day',
        'requests_per_month', 'units_per_month'
      )
    order by 1
  )
$$;
