-- The newest logged change of these facts that some replica has not confirmed; null if all have. For changes that log nothing
-- themselves, but whose 2xx relies on an earlier change that may still be on its way. A replica that is further behind than
-- the log goes back may lack any change that is no longer in it. While a restored database cannot show who holds a lease,
-- that is everything.
create or replace function coherence_awaited(keys text[]) returns bigint language sql volatile as $$
  select case when coherence_history() = (select h.history from coherence_adopted h) then greatest(
    (select max(l.seq) from coherence_log l where l.key = any (keys) and l.seq > a.acked),
    case when a.acked < s.floor - 1 then s.floor - 1 end
  ) else s.seq end
  from coherence_now s, (select min(r.acked) as acked from replica r) a
$$;
