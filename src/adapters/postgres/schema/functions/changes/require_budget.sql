-- Fails with TG004 if the changes of a parent's keys have left as much today (UTC) as `budget` in `request` allows; the
-- error's detail has the seconds until midnight. Each day has room for so many bytes of events, and a portal session may
-- use a twentieth of it. If `of_account` is not null, that account must not have minted ten times its maximum number of
-- keys today, either. Operators' requests have no budget.
create or replace function require_budget(request jsonb, of_account uuid default null) returns void language plpgsql as $$
declare
  today constant timestamptz := date_trunc('day', now(), 'UTC');
  budget constant jsonb := request -> 'budget';
begin
  if exists (
    select from event_spent s
    where s.account_id = (request #>> '{caller,account}')::uuid and s.day = today
      and (
        s.bytes >= (budget ->> 'bytes')::bigint and s.session_id = '00000000-0000-0000-0000-000000000000'
        or 20 * s.bytes >= (budget ->> 'bytes')::bigint and s.session_id = (request #>> '{caller,session}')::uuid
      )
  ) or budget is not null and (
    select count(*) from api_key k
    where k.account_id = of_account and k.id >= event_floor(today - interval '1 hour') and k.created_at >= today
      and k.imported_under is null
  ) >= 10 * api_key_limit(of_account, (budget ->> 'api_keys')::int) then
    raise exception using errcode = 'TG004', message = 'this parent has used up its changes of today',
      detail = ceil(extract(epoch from today + interval '1 day' - now()));
  end if;
end $$;
