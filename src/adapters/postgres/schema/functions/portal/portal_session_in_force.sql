-- Returns whether a portal session is in force: it has not expired, its key and its parent may still be used, and its
-- sub-account, if it has one, is active.
create or replace function portal_session_in_force(session portal_session) returns boolean language sql stable as $$
  select session.expires_at > clock_timestamp()
    and exists (
      select from api_key k join account a on a.id = k.account_id
      where k.id = session.key_id and k.account_id = session.account_id and k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp()) and a.status = 'active' and a.deleted_at is null
    )
    and (
      session.sub_account_id is null or exists (
        select from account a
        where a.id = session.sub_account_id and a.parent_id = session.account_id and a.status = 'active'
          and a.deleted_at is null
      )
    )
$$;
