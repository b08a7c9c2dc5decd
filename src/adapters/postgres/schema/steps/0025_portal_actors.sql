-- compatible with: 6
-- locks for a moment: event
-- The portal session that made a change, and its user as the parent calls them. The actor of such an event is also the
-- key that made the session. Replicas without this step show the kind and the key.

alter table event
  add column actor_session_id uuid,
  add column actor_user text,
  drop constraint event_actor,
  add constraint event_actor check (actor_kind in ('api_key', 'operator', 'portal', 'system')) not valid;
