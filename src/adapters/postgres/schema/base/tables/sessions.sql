-- Sessions of the portal, which a parent makes for its own people or for those of one of its sub-accounts. A session
-- begins as a link that can be redeemed once for a token. The row has neither secret, only the SHA-256 of the one that is
-- valid now.
create table portal_session (
  id uuid primary key,
  account_id uuid not null,
  -- The key that made the session. The session is in force only as long as the key.
  key_id uuid not null,
  -- The only sub-account that the session may see; null if it may see all of the parent's.
  sub_account_id uuid,
  permissions text[] not null,
  -- Scopes that keys made in the session may have.
  scopes text[] not null,
  user_label text,
  return_url text,
  digest bytea not null unique constraint portal_session_digest check (octet_length(digest) = 32),
  redeemed boolean not null default false,
  expires_at timestamptz(3) not null
);
create index portal_session_of_account on portal_session (account_id);
create index portal_session_of_sub_account on portal_session (sub_account_id) where sub_account_id is not null;
create index portal_session_expires_at on portal_session (expires_at);

-- Keys of the MAC that secrets of sessions and links carry, so that one which was made up asks the database nothing.
-- Whoever knows a key can ask, and has no session by that. There is one row, and during a change two.
create table session_key (
  key bytea primary key
    default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  made_at timestamptz not null default now(),
  constraint session_key_length check (length(key) = 32)
);
insert into session_key default values;

-- An operator who has signed in. The row has neither the secret of the session, which is in a cookie, nor the token:
-- `digest` is the SHA-256 of the secret, and `proof` the HMAC of the token's SHA-256 under it.
create table operator_session (
  digest bytea primary key,
  proof bytea not null,
  expires_at timestamptz(3) not null,
  constraint operator_session_lengths check (length(digest) = 32 and length(proof) = 32)
);
