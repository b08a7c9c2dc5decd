-- Rejects every update of an event, and every deletion that `event_prune` does not make. The trigger guards only
-- against mistakes, because the table's owner can drop it.
create or replace function event_append_only() returns trigger language plpgsql as $$
begin
  if tg_op <> 'DELETE' or current_setting('tenancy_gateway.event_retention', true) is distinct from 'on' then
    raise integrity_constraint_violation using message = 'events are append-only', constraint = 'event_append_only';
  end if;
  return null;
end $$;
