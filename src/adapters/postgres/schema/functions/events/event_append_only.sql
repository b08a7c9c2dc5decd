-- Rejects every update of an event that `event_erase` does not make, and every deletion that `event_prune` does not
-- make. The trigger guards only against mistakes, because the table's owner can drop it.
create or replace function event_append_only() returns trigger language plpgsql as $$
begin
  if current_setting(
      case tg_op when 'DELETE' then 'tenancy_gateway.event_retention' when 'UPDATE' then 'tenancy_gateway.event_erasure'
        else 'tenancy_gateway.never' end, true
    ) is distinct from 'on'
  then
    raise integrity_constraint_violation using message = 'events are append-only', constraint = 'event_append_only';
  end if;
  return null;
end $$;
