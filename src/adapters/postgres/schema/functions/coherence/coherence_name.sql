-- Names the history if it has no name where the database now lives (`coherence_place`). The name is a new UUID, so that
-- two promotions to the same timeline number are two histories. A second caller waits for the first, and then finds the
-- name. The name is stored in `marker`, which is part of the incarnation that 0.1.0 reads, so replicas of 0.1.0 start
-- over, too.
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
