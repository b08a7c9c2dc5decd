-- Notes the facts that a row change touches, in the form that `coherence_take` reads. The notes are kept in settings of
-- this transaction until `change_position` logs the facts. Triggers call this for every row change, whichever statement
-- makes it.
create or replace function change_touch(facts text[]) returns void language plpgsql as $$
declare
  noted text := coalesce(current_setting('tenancy_gateway.touched', true), '');
  part int;
begin
  if facts = '{}' then
    return;
  end if;
  -- Each call rewrites a whole setting. Hand-written SQL may change 100,000 rows, so the facts are split across several
  -- settings that stay short.
  if length(noted) > 30000 then
    part := coalesce(nullif(current_setting('tenancy_gateway.touched_parts', true), ''), '0')::int + 1;
    perform set_config('tenancy_gateway.touched_' || part, noted, true);
    perform set_config('tenancy_gateway.touched_parts', part::text, true);
    noted := '';
  end if;
  perform set_config('tenancy_gateway.touched', concat_ws(' ', nullif(noted, ''), array_to_string(facts, ' ')), true);
end $$;
