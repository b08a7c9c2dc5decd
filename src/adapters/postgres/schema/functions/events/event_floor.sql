-- Returns the lowest id that an event in the millisecond of `at` can have.
create or replace function event_floor(at timestamptz) returns uuid language sql immutable as $$
  select rpad(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;
