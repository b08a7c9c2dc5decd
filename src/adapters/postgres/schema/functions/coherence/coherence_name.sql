-- Names the history if it has no name where the database now lives (`coherence_place`). The name is a new UUID: even
-- two promotions to the same timeline number get different names. If two sessions call this at once, the second one
-- waits and then finds the name. The name is stored in `coherence_seq.marker`. Replicas of 0.1.0 read `marker` as part
-- of the incarnation, so they notice the new history, too.
create or replace function coherence_name() returns void language plpgsql as $$
begin
  if (select a.named_in from coherence_adopted a) = coherence_place() then
    return;
  end if;
  update coherence_adopted set named_in = coherence_place() where named_in <> coherence_place();
  if found then
    update coherence_seq set marker = gen_random_uuid();
  end if;
end $$;
