-- compatible with: 6
-- locks for a moment: api_key
-- API keys that were made elsewhere, that were made in the place of others, and their limits. Columns that are or may be
-- empty take no rewrite and no look at the rows.

alter table api_key
  -- Of a key that is imported by its digest nothing may be known that people could recognise it by, and it has no client
  -- secret. 0.1.0 shows an empty text in place of a null here. It decides about no imported key: `fleet_require` rejects an
  -- import while a replica of 0.1.0 is registered, and keeps it from registering after that.
  alter column prefix drop not null,
  alter column last4 drop not null,
  alter column client_secret_digest drop not null,
  add column rotated_from uuid,
  add column requests_per_second int,
  add column burst int,
  add column requests_per_minute int,
  -- By which the limits of this key and of those it was rotated from are counted together; null: by its own id.
  add column limit_id uuid,
  -- Of an imported key, the prefix that its checksum was held to: `keys.prefix` then, or its own if it is of another gateway.
  add column imported_under text,
  add constraint api_key_limits check (
    requests_per_second > 0 and burst > 0 and requests_per_minute > 0 and (burst is null or requests_per_second is not null)
  ) not valid;
