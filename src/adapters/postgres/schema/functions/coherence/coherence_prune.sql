-- Deletes log rows and positions below `before`, up to `most` of each, and raises the floor, below which the log has no
-- rows. Returns whether there may be more. Only one caller at a time deletes; the rest return immediately. Does nothing
-- if `of_incarnation` is not the current incarnation.
--
-- Reads start at the floor. Otherwise, as long as an old snapshot exists, each call would scan every row that was ever
-- deleted.
create or replace function coherence_prune(of_incarnation text, before bigint, most int) returns boolean language plpgsql as $$
declare
  -- The newest position stays, because it marks the end of the log.
  until constant bigint := least(before, coherence_position());
  start bigint;
  portion bigint;
begin
  if not pg_try_advisory_xact_lock(7311970452) or of_incarnation <> coherence_incarnation() then
    return false;
  end if;
  -- If a crash undoes this commit, it restores the rows and the floor together.
  perform set_config('synchronous_commit', 'off', true);
  select s.floor into start from coherence_seq s;
  select least(
      (select l.seq from coherence_log l where l.seq >= start and l.seq < until order by l.seq offset most - 1 limit 1),
      (select t.seq from coherence_taken t where t.seq >= start and t.seq < until order by t.seq offset most - 1 limit 1)
    ) into portion;
  -- Rows that a change is deleting are skipped and left to that change, because waiting for them could cause a
  -- deadlock.
  delete from coherence_log where ctid = any (array(
    select l.ctid from coherence_log l
    where l.seq >= start and l.seq < until and l.seq <= coalesce(portion, l.seq) for update skip locked
  ));
  delete from coherence_taken t where t.seq >= start and t.seq < coalesce(portion + 1, until);
  update coherence_seq set floor = coalesce(portion + 1, until) where floor < coalesce(portion + 1, until);
  return portion is not null;
end $$;
