-- Returns the name of the history that positions belong to: a UUID that `coherence_name` made for it. If the database
-- is now in another place than where the name was made (`coherence_place`), returns 'unnamed'. No replica decides by
-- an unnamed history: the first renewal there names it.
create or replace function coherence_history() returns text language sql stable as $$
  select case when a.named_in = coherence_place() then s.marker::text else 'unnamed' end
  from coherence_seq s, coherence_adopted a
$$;
