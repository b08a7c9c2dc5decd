-- Revokes all of an account's keys at one position, even expired ones. `revoked` is the number of keys that were not
-- revoked already.
create or replace function api_key_revoke_all(
  request jsonb, of_account uuid, out outcome text, out seq bigint, out revoked int
) language plpgsql as $$
#variable_conflict use_column
declare
  made jsonb;
begin
  select b.outcome, b.made, b.seq into outcome, made, seq from change_begin(request) b;
  if outcome is not null then
    revoked := (made ->> 'revoked')::int;
    return;
  end if;
  -- A rotation takes this fence, too, and creating or importing keys locks the account. So this call waits for
  -- rotations, creations and imports that have begun, and the query below sees their keys. Rotations, creations and
  -- imports that begin later wait for this call.
  perform change_fence(of_account);
  perform from account a where a.id = of_account for no key update;
  if not found or not account_is_there(of_account) then
    outcome := 'none';
    return;
  end if;
  -- Keys are locked in id order. `usage_count` locks them in the same order, so the two functions cannot deadlock.
  perform from api_key k where k.account_id = of_account and k.revoked_at is null order by k.id for no key update;
  update api_key k set revoked_at = now() where k.account_id = of_account and k.revoked_at is null;
  get diagnostics revoked = row_count;
  outcome := 'done';
  seq := change_end(request, jsonb_build_object('revoked', revoked), revoked > 0);
end $$;
