-- Deletes log rows and positions below `before`, up to `most` of each. Then raises the floor; the log has no rows below
-- the floor. Returns whether there may be more to delete. Only one caller at a time deletes; the rest return false
-- immediately. Nothing is deleted if `of_history` is not the present history.
--
-- Each reading of the log starts at the floor. Without a floor, a reading would also scan deleted rows: PostgreSQL
-- cannot remove them while an old snapshot exists.
create or replace function coherence_prune(of_history text, before bigint, most int) returns boolean language plpgsql as $$
declare
  -- The newest position stays, because it marks the end of the log.
  until constant bigint := least(before, coherence_position());
  start bigint;
  portion bigint;
begin
  if not pg_try_advisory_xact_lock(7311970452) or of_history <> coherence_history() then
    return false;
  end if;
  -- This commit need not survive a crash: if a crash undoes it, the rows and the old floor come back together.
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
