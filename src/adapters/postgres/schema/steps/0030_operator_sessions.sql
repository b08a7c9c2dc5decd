-- compatible with: 6
-- An operator who has signed in. The row has neither the secret of the session, which is in a cookie, nor the token:
-- `digest` is the SHA-256 of the secret, and `proof` the HMAC of the token's SHA-256 under it. Replicas without this
-- step never read the table.

create table operator_session (
  digest bytea primary key,
  proof bytea not null,
  expires_at timestamptz(3) not null,
  constraint operator_session_lengths check (length(digest) = 32 and length(proof) = 32)
);
