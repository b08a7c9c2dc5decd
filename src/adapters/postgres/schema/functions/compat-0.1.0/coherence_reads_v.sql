-- Returns whether a replica of 0.1.0 may still read the position from `coherence_seq.v`, which is the case while one is
-- registered. Even after its row has been removed, one of its statements may still be running the released body of
-- `coherence_record`, which takes the position after `v`.
create or replace function coherence_reads_v() returns boolean language plpgsql volatile as $$
begin
  return clock_timestamp() < (select coalesce(max(b.until), 'infinity') from released_bodies b)
    or exists (select from replica r where replica_level(r.nonce) < 2);
end $$;
