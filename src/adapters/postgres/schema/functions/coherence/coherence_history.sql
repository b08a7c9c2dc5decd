-- Names the history that positions belong to: a UUID that was made for it (`coherence_name`). In another place than that in
-- which it was made the history has no name yet, and no replica decides by it: it is named with the first renewal there.
create or replace function coherence_history() returns text language sql stable as $$
  select case when a.named_in = coherence_place() then s.marker::text else 'unnamed' end
  from coherence_seq s, coherence_adopted a
$$;
