-- Returns the newest position, for which a change without effect waits. Such a change calls this after it has read (and
-- locked) the row, so this function uses a later snapshot: the change that last wrote the row has this position or an
-- older one.
create or replace function coherence_position() returns bigint language plpgsql volatile as $$
begin
  return (select seq from coherence_now);
end $$;
