-- Returns the position of the newest logged change to these facts that some replica has not confirmed, or null if every
-- replica has confirmed all of them. A change calls this if its 2xx also relies on an earlier change that some replicas
-- may not have read yet.
--
-- Log entries below the floor have been deleted, and some of them may have been about these facts. So if a replica has
-- not confirmed all positions below the floor, the result is at least the last position below the floor. While a
-- restored database cannot tell who holds a lease, every change counts as unconfirmed, and the result is the newest
-- position.
create or replace function coherence_awaited(keys text[]) returns bigint language sql volatile as $$
  select case when coherence_history() = s.adopted then greatest(
    (select max(l.seq) from coherence_log l where l.key = any (keys) and l.seq > a.acked),
    case when a.acked < s.floor - 1 then s.floor - 1 end
  ) else s.seq end
  from coherence_now s, (select min(r.acked) as acked from replica r) a
$$;
