-- Revokes one of an account's keys. A key that is already revoked keeps its revocation time; `seq` is then the newest
-- position in the log, so the caller waits for replicas as it would after a first revocation.
create or replace function api_key_revoke(
  request jsonb, of_account uuid, of_id uuid, out outcome text, out seq bigint, out key jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  made api_key;
  wrote boolean;
begin
  select b.outcome, b.made, b.seq into outcome, key, seq from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  perform change_fence(of_account);
  select * into made from api_key k where k.id = of_id and k.account_id = of_account for no key update;
  if not found or not account_is_there(of_account) then
    outcome := 'none';
    return;
  end if;
  wrote := made.revoked_at is null;
  if wrote then
    update api_key k set revoked_at = now() where k.id = of_id returning * into made;
  end if;
  outcome := 'done';
  key := api_key_shown(to_jsonb(made));
  seq := change_end(request, key, wrote);
end $$;
