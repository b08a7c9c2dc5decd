-- The position that a change without effect waits for. Called after its row was seen (and locked), so in a later snapshot: the
-- change that made the row what it is has this position or an older one.
create or replace function coherence_position() returns bigint language plpgsql volatile as $$
begin
  return (select seq from coherence_now);
end $$;
