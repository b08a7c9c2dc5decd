-- Gives up the counts that silent journals with this id or host still hold, and returns the number of these journals.
-- Journals that are not silent stay as they are.
create or replace function usage_forget(replica text) returns bigint language sql as $$
  with forgotten as (
    update usage_journal j set forgotten = true from usage_silent(interval '1 minute') s
      where s.id = j.id and replica in (s.id, s.host)
      returning 1
  )
  select count(*) from forgotten
$$;
