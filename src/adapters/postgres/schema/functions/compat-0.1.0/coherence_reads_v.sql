-- Returns whether a replica of 0.1.0 may still read the position from `coherence_seq.v`. That is so while such a
-- replica is registered, and before the time in `released_bodies`. Until that time, a statement of a replica that is no
-- longer registered may still be running the released body of `coherence_record`, which takes position `v + 1`.
create or replace function coherence_reads_v() returns boolean language plpgsql volatile as $$
begin
  return clock_timestamp() < (select coalesce(max(b.until), 'infinity') from released_bodies b)
    or exists (select from replica r where replica_level(r.nonce) < 2);
end $$;
