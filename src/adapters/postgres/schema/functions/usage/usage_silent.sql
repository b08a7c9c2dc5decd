-- Returns the silent journals. A journal is silent if it has not ended and has sent nothing for a minute (or for
-- `lost_after`, if that is shorter), so the store may be missing some of the journal's counts. A journal is given up if
-- `usage_forget` was called for it, or if it has stayed silent for longer than `lost_after` after its lease and streams
-- ended. The store does not know how long those of the journal's process were, so the longest of any replica are used.
create or replace function usage_silent(lost_after interval)
returns table (id text, host text, at timestamptz, through timestamptz, given_up boolean) language sql stable as $$
  select j.id, j.host, j.at, j.through, j.forgotten or j.at <= now() - lost_after - l.longest
  from usage_journal j, (select coalesce(max(r.lease_ms + r.streams_ms), 0) * interval '1 ms' as longest from replica r) l
  where j.through < 'infinity' and j.at <= now() - least(lost_after, interval '1 minute')
$$;
