-- compatible with: 6
-- locks for a moment: api_key
-- Adds imported API keys, API keys that replace others, and API key limits. New columns are empty, and old ones only
-- lose a constraint, so the migration neither rewrites nor reads the rows.

alter table api_key
  -- These columns may be null for imported keys. If a key is imported by its digest, the characters that let people
  -- recognise it may be unknown, and no imported key has a client secret. Replicas of 0.1.0 show null as an empty
  -- string. They never have to decide about an imported key: `fleet_require` rejects an import while a replica of 0.1.0
  -- is registered, and no such replica can register after an import.
  alter column prefix drop not null,
  alter column last4 drop not null,
  alter column client_secret_digest drop not null,
  add column rotated_from uuid,
  add column requests_per_second int,
  add column burst int,
  add column requests_per_minute int,
  -- Id under which requests with this key count towards limits. A rotated key has the same id as the key that it
  -- replaced, so the requests of both are counted together. If the column is null, the id is `rotated_from`, or else
  -- the key's own id.
  add column limit_id uuid,
  -- For an imported key: `keys.prefix` at the time of the import, or the key's own prefix if the key comes from another
  -- gateway. While `keys.prefix` has this value, the gateway does not reject the key as mistyped.
  add column imported_under text,
  add constraint api_key_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_minute > 0 and (burst is null or requests_per_second is not null)
  ) not valid;
