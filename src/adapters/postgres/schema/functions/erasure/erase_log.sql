-- Removes erased external_ids from the coherence log, which names facts by them. Takes a position that names only the
-- deleted account. Once every replica has confirmed the position, prunes the log below it, `most` rows at a time. As
-- after any pruning, cached values that are older than the log are read again. Returns null if a replica has not
-- confirmed the position yet, or another process is pruning.
create or replace function erase_log(job erasure, most int) returns erasure language plpgsql as $$
declare
  floor_before constant bigint := (select s.floor from coherence_seq s);
  floor_now bigint := floor_before;
begin
  if job.at_position is null then
    perform change_touch(array['+a:' || job.account_id]);
    job.at_position := change_position();
    return job;
  end if;
  if floor_now < job.at_position then
    if exists (select from replica r where r.acked < job.at_position) then
      return null;
    end if;
    perform coherence_prune(coherence_history(), job.at_position, most);
    select s.floor into floor_now from coherence_seq s;
  end if;
  if floor_now >= job.at_position then
    job.erased_at := now();
  elsif floor_now = floor_before then
    return null;
  end if;
  return job;
end $$;
