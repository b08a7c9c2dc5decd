-- Names the history if it has no name where the database now lives (`coherence_place`). The name is a new UUID: even
-- two promotions to the same timeline number get different names. If two sessions call this at once, the second one
-- waits and then finds the name.
create or replace function coherence_name() returns void language plpgsql as $$
begin
  if (select s.named_in from coherence_seq s) <> coherence_place() then
    update coherence_seq set named_in = coherence_place(), marker = gen_random_uuid() where named_in <> coherence_place();
  end if;
end $$;
