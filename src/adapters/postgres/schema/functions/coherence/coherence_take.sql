-- Takes the next position and logs the facts in `touched` at that position; a transaction calls this last. The lock on
-- the `coherence_seq` row is held until the commit, so positions follow commit order. Unlike an update, a lock leaves
-- no dead row version. Each position is a row in `coherence_taken`, so a second change with the same position fails.
--
-- Each element of `touched` is a fact preceded by one character: `-` if a right that the fact granted has ended, otherwise
-- `+`. A replica that reads `-` ends the streams that depend on the fact.
--
-- For each fact, the log keeps the newest change. If that change is not a `-`, the log also keeps the newest `-`,
-- because a replica that has not read that `-` yet must still end the fact's streams. Other entries for the fact are
-- deleted before this function takes the lock that all changes need. This is safe, because changes to the same fact
-- already wait for each other on the row of the account or key.
create or replace function coherence_take(touched text[]) returns bigint language plpgsql as $$
declare
  facts constant text[] := array(select substr(t, 2) from unnest(touched) t);
  ended constant text[] := array(select substr(t, 2) from unnest(touched) t where left(t, 1) = '-');
  taken bigint;
begin
  perform require_read_committed();
  -- A 2xx is a promise, so it must not depend on a commit that a crash can still undo.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  delete from coherence_log l where l.key = any (facts) and (not l.withdrawn or l.key = any (ended));
  perform from coherence_seq for no key update;
  -- This call's snapshot is newer than the lock, so it sees every position committed before the lock was granted.
  taken := coherence_position() + 1;
  with position as (insert into coherence_taken (seq) values (taken))
    insert into coherence_log (seq, key, withdrawn)
      select taken, substr(t, 2), bool_or(left(t, 1) = '-') from unnest(touched) t group by 2;
  perform pg_notify('tenancy_gateway_coherence', taken::text);
  return taken;
end $$;
