-- Returns the name of the history that positions belong to: a UUID that `coherence_name` made for the history. Returns
-- 'unnamed' if the database is no longer in the place in which the name was made (`coherence_place`). No replica
-- decides by an unnamed history: the first renewal in the new place gives it a name.
--
-- The function is written in PL/pgSQL because each session keeps its plan. A function in SQL would be planned again in
-- every statement.
create or replace function coherence_history() returns text language plpgsql stable as $$
begin
  return (
    select case when a.named_in = coherence_place() then s.marker::text else 'unnamed' end
    from coherence_seq s, coherence_adopted a
  );
end $$;
