-- Returns the name of the history that positions belong to: a UUID made for it (`coherence_name`). In any other place
-- the history has no name yet, and no replica decides by it: the first renewal there names it.
create or replace function coherence_history() returns text language sql stable as $$
  select case when a.named_in = coherence_place() then s.marker::text else 'unnamed' end
  from coherence_seq s, coherence_adopted a
$$;
