-- Deletes all windows of the quotas named in `begun`, so that the next `quota_ask` begins new series. Lets the events of
-- the quotas in `resized` be written again. All rows are locked at once, in the order of their names, as in `quota_ask`.
-- So a change of several quotas cannot deadlock with the questions of a replica.
create or replace function quotas_changed(begun text[], resized text[]) returns void language plpgsql
set enable_seqscan = off set jit = off as $$
begin
  perform from limit_quota q where q.limit_name = any (begun || resized) order by q.limit_name, q.starts_at for update;
  delete from limit_quota q where q.limit_name = any (begun);
  delete from limit_hold h where h.limit_name = any (begun);
  update limit_quota q set noted = 0 where q.noted > 0 and q.limit_name = any (resized);
end $$;
