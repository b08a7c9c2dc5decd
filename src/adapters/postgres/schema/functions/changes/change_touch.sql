-- Notes the facts that a row change touches. The notes are kept in settings of this transaction, in the form that
-- `coherence_take` reads, and `change_position` logs them. Triggers call this for every row change, whichever statement
-- makes it.
create or replace function change_touch(facts text[]) returns void language plpgsql as $$
declare
  noted text := coalesce(current_setting('tenancy_gateway.touched', true), '');
  part int;
begin
  if facts = '{}' then
    return;
  end if;
  -- The facts are split across several settings, because each call rewrites a whole setting and hand-written SQL may
  -- change 100,000 rows.
  if length(noted) > 30000 then
    part := coalesce(nullif(current_setting('tenancy_gateway.touched_parts', true), ''), '0')::int + 1;
    perform set_config('tenancy_gateway.touched_' || part, noted, true);
    perform set_config('tenancy_gateway.touched_parts', part::text, true);
    noted := '';
  end if;
  perform set_config('tenancy_gateway.touched', concat_ws(' ', nullif(noted, ''), array_to_string(facts, ' ')), true);
end $$;
