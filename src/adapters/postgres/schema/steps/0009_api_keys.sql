-- compatible with: 6
-- locks for a moment: api_key
-- Adds API keys that were made elsewhere, API keys that replace others, and limits of API keys. New columns begin
-- empty, and old ones may now be null, so the step neither rewrites nor reads the rows.

alter table api_key
  -- These columns may be null for imported keys. If a key is imported by its digest, the characters by which people
  -- recognise it may be unknown, and no imported key has a client secret. Replicas of 0.1.0 show an empty text in
  -- place of a null. They never decide about an imported key: `fleet_require` rejects an import while one of them is
  -- registered, and keeps them from registering after that.
  alter column prefix drop not null,
  alter column last4 drop not null,
  alter column client_secret_digest drop not null,
  add column rotated_from uuid,
  add column requests_per_second int,
  add column burst int,
  add column requests_per_minute int,
  -- Id by which the limits of this key and of those it was rotated from are counted together. If it is null,
  -- `rotated_from` or else the key's own id is used.
  add column limit_id uuid,
  -- The prefix under which an imported key was found not to be mistyped: `keys.prefix` at that time, or the key's own
  -- prefix if another gateway made it.
  add column imported_under text,
  add constraint api_key_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_minute > 0 and (burst is null or requests_per_second is not null)
  ) not valid;
