-- Returns whether a replica of 0.1.0 may read the position from `coherence_seq.v`. That is so if one is registered, or
-- if a statement of one may still run the released body of `coherence_record`: that body takes the position after `v`,
-- even after the row of its replica was removed.
create or replace function coherence_reads_v() returns boolean language plpgsql volatile as $$
begin
  return clock_timestamp() < (select coalesce(max(b.until), 'infinity') from released_bodies b)
    or exists (select from replica r where replica_level(r.nonce) < 2);
end $$;
