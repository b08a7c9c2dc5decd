-- Creates a portal session, whose link expires after `lifetime_ms`. `session` has the columns of the row. `outcome` is
-- 'none' if its sub-account does not exist, 'deactivated' if it is deactivated, and 'limit' if the parent has `most`
-- sessions. Sessions that have expired are deleted here, some at a time, so that they cannot pile up.
create or replace function portal_session_create(
  request jsonb, session jsonb, lifetime_ms int, most int,
  out outcome text, out seq bigint, out expires_at timestamptz
) language plpgsql as $$
#variable_conflict use_column
declare
  made portal_session;
  sub account;
begin
  select b.outcome into outcome from change_begin(request) b;
  if outcome is not null then
    return;
  end if;
  made := jsonb_populate_record(null::portal_session, session);
  delete from portal_session s where s.id = any (array(
    select e.id from portal_session e where e.expires_at <= now() order by e.expires_at limit 100 for update skip locked
  ));
  delete from event_spent s
    where s.account_id = made.account_id and s.session_id <> '00000000-0000-0000-0000-000000000000'
      and s.day < now() - interval '2 days';
  if made.sub_account_id is not null then
    select * into sub from account a where a.id = made.sub_account_id and a.parent_id = made.account_id;
    if not found or not account_is_there(sub.id) then
      outcome := 'none';
      return;
    end if;
    if sub.status <> 'active' then
      outcome := 'deactivated';
      return;
    end if;
  end if;
  if (select count(*) from portal_session s where s.account_id = made.account_id and s.expires_at > now()) >= most then
    outcome := 'limit';
    return;
  end if;
  insert into portal_session (id, account_id, key_id, sub_account_id, permissions, scopes, user_label, return_url, digest, expires_at)
    values (
      made.id, made.account_id, made.key_id, made.sub_account_id, made.permissions, made.scopes, made.user_label,
      made.return_url, made.digest, clock_timestamp() + lifetime_ms * interval '1 ms'
    ) returning portal_session.expires_at into expires_at;
  outcome := 'done';
  seq := change_end(request, null);
end $$;
