-- Erases personal data in events. This is the only function that changes events, which are otherwise append-only
-- (`event_append_only`). `what` is 'addresses' for the clients' addresses only; 'texts' also for names, external_ids and
-- metadata of accounts and keys; 'names' also for the names of the keys that made the changes. The users of
-- portal sessions are people of the parent or of the sub-account, so both of these erase them.
create or replace function event_erase(of_events uuid[], what text) returns void language plpgsql as $$
begin
  perform set_config('tenancy_gateway.event_erasure', 'on', true);
  update event e
    set address = null,
      actor_name = case when what <> 'names' or e.actor_kind not in ('api_key', 'portal') then e.actor_name end,
      actor_user = case what when 'addresses' then e.actor_user end,
      object = case what when 'addresses' then e.object else erased(e.object) end,
      previous = case what when 'addresses' then e.previous else erased(e.previous) end
    where e.id = any (of_events);
  perform set_config('tenancy_gateway.event_erasure', 'off', true);
end $$;
