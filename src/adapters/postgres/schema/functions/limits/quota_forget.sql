-- Deletes all windows of a quota, so that the next question begins a new series.
create or replace function quota_forget(of_limit text) returns void language sql as $$
  delete from limit_quota q where q.limit_name = of_limit;
  delete from limit_hold h where h.limit_name = of_limit;
$$;
