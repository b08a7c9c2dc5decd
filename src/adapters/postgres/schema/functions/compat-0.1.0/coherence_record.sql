-- Ends a change that a replica of 0.1.0 began before the change's function was replaced.
create or replace function coherence_record(keys text[], withdrawn text[] default '{}') returns bigint
language plpgsql as $$
begin
  return coherence_take(array(
    select case when k = any (coherence_record.withdrawn) then '-' else '+' end || k from unnest(keys) k
  ));
end $$;
