-- Marks a parent's sub-account counts as possibly wrong. A function that calls `change_end` has updated the counts
-- itself, so `change_end` clears the mark. In any other transaction, `change_commit` recounts.
create or replace function account_uncounted(of_parent uuid) returns void language plpgsql as $$
declare
  noted constant text := coalesce(current_setting('tenancy_gateway.uncounted', true), '');
begin
  if strpos(noted, of_parent::text) = 0 then
    perform set_config('tenancy_gateway.uncounted', concat_ws(' ', nullif(noted, ''), of_parent), true);
  end if;
end $$;
