-- Returns the time in an event's id, in units of 1/4096 ms since 1970.
create or replace function event_tick_of(id uuid) returns bigint language sql immutable as $$
  select ('x0' || translate(left(id::text, 13), '-', '') || substr(id::text, 16, 3))::bit(64)::bigint
$$;
