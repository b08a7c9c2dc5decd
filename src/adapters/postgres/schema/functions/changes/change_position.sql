-- Takes a position for the facts that this transaction has touched but not logged yet, logs them, and returns the
-- position. Returns null if there are no such facts.
create or replace function change_position() returns bigint language plpgsql as $$
declare
  touched text := current_setting('tenancy_gateway.touched', true);
  parts constant text := current_setting('tenancy_gateway.touched_parts', true);
begin
  if touched is null or touched = '' then
    return null;
  end if;
  if parts <> '' then
    touched := concat_ws(' ', touched, (
      select string_agg(current_setting('tenancy_gateway.touched_' || n), ' ') from generate_series(1, parts::int) n
    ));
    perform set_config('tenancy_gateway.touched_parts', '', true);
  end if;
  perform set_config('tenancy_gateway.touched', '', true);
  return coherence_take(string_to_array(touched, ' '));
end $$;
