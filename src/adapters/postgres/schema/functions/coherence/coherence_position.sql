-- Returns the newest position. If a change finds its row already as requested, it writes nothing, and its 2xx waits for
-- the newest position. The change calls this function after it has locked and read the row, so the last change to the
-- row cannot have a newer position.
create or replace function coherence_position() returns bigint language plpgsql volatile as $$
begin
  return (select seq from coherence_now);
end $$;
