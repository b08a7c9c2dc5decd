-- Ends a change that is 'done', after its last write: stores `made` as the result of its request, for the case that
-- the request is sent again, and takes its position. Returns the position; null if the change touched no fact.
create or replace function change_end(request jsonb, made jsonb) returns bigint language plpgsql as $$
declare
  claim constant jsonb := request -> 'claim';
begin
  if claim is not null then
    perform idempotency_note(
      (claim ->> 'caller')::uuid, decode(claim ->> 'key', 'hex'), decode(claim ->> 'fingerprint', 'hex'), made
    );
  end if;
  -- A change counts the sub-accounts that it makes by itself.
  perform set_config('tenancy_gateway.uncounted', '', true);
  return change_position();
end $$;
