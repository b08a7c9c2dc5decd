-- compatible with: 6
-- locks for a moment: api_key
-- Triggers keep events and facts in sync with API key rows. This is a separate migration, because a migration may lock
-- only one table. Key changes between the previous migration and this one have no event.

create trigger api_key_created after insert on api_key referencing new table as made
  for each statement execute function api_key_created();
create trigger api_key_changed after update on api_key referencing old table as removed new table as made
  for each statement execute function api_key_changed();
create trigger api_key_deleted after delete on api_key referencing old table as removed
  for each statement execute function api_key_deleted();
create constraint trigger api_key_commit after insert or update or delete on api_key deferrable initially deferred
  for each row execute function change_commit();
