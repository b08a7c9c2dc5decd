-- Returns the newest position. The 2xx of a change that turns out to have no effect waits for this position. Such a
-- change calls this function after it has locked and read the row. So the change that last wrote the row has this
-- position or an older one.
create or replace function coherence_position() returns bigint language plpgsql volatile as $$
begin
  return (select seq from coherence_now);
end $$;
