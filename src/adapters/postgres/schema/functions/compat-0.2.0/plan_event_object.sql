-- Returns a plan as its events have it. 0.2.0 takes the object of an event whose type it does not know for an API key,
-- and cannot list the events if these members are missing.
create or replace function plan_event_object(of_plan plan) returns jsonb language sql immutable as $$
  select to_jsonb(of_plan) || '{"scopes": [], "last_used_at": null, "expires_at": null, "revoked_at": null}'
$$;
