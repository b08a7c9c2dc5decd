-- Returns whether code of 0.1.0 may still read the position from `coherence_seq.v`. This is true while any replica of
-- 0.1.0 is registered. It is also true before the time in `released_bodies`, even without such a replica: until then, a
-- statement of 0.1.0 may still be running the old body of `coherence_record`, which takes position `v + 1`.
create or replace function coherence_reads_v() returns boolean language plpgsql volatile as $$
begin
  return clock_timestamp() < (select coalesce(max(b.until), 'infinity') from released_bodies b)
    or exists (select from replica r where replica_level(r.nonce) < 2);
end $$;
