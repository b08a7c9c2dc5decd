-- Notes the facts that the change of a row touches. The notes are settings of this transaction, in the form that
-- `coherence_take` reads; `change_position` logs them. Triggers call this for every change of a row, whichever
-- statement makes the change.
create or replace function change_touch(facts text[]) returns void language plpgsql as $$
declare
  noted text := coalesce(current_setting('tenancy_gateway.touched', true), '');
  part int;
begin
  if facts = '{}' then
    return;
  end if;
  -- The facts are split over several settings, because each call writes a whole setting anew and SQL by hand may change
  -- 100,000 rows.
  if length(noted) > 30000 then
    part := coalesce(nullif(current_setting('tenancy_gateway.touched_parts', true), ''), '0')::int + 1;
    perform set_config('tenancy_gateway.touched_' || part, noted, true);
    perform set_config('tenancy_gateway.touched_parts', part::text, true);
    noted := '';
  end if;
  perform set_config('tenancy_gateway.touched', concat_ws(' ', nullif(noted, ''), array_to_string(facts, ' ')), true);
end $$;
