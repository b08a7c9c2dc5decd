-- Ends a change whose outcome is 'done', after its last write. Stores `made` as the result of the request, in case the
-- request is sent again. Takes the change's position and returns it, or returns null if the change touched no facts.
create or replace function change_end(request jsonb, made jsonb) returns bigint language plpgsql as $$
declare
  claim constant jsonb := request -> 'claim';
begin
  if claim is not null then
    perform idempotency_note(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex'), made
    );
  end if;
  -- The change has already updated the sub-account counts, so `change_commit` need not recount.
  perform set_config('tenancy_gateway.uncounted', '', true);
  return change_position();
end $$;
