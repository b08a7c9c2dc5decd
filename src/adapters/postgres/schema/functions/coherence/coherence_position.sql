-- Returns the newest position. A change that has no effect calls this after it has locked and read the row, and its 2xx
-- waits for that position. The snapshot used here is newer than that read, so the change that last wrote the row has
-- this position or an older one.
create or replace function coherence_position() returns bigint language plpgsql volatile as $$
begin
  return (select seq from coherence_now);
end $$;
