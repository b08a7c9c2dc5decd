-- Deletes quota windows that began before this month, except rows that a replica is writing.
create or replace function quota_sweep() returns void language sql as $$
  delete from limit_hold h using (
    select o.limit_name, o.starts_at, o.replica from limit_hold o
      where o.starts_at < date_trunc('month', now(), 'UTC') for update skip locked
  ) old where (h.limit_name, h.starts_at, h.replica) = (old.limit_name, old.starts_at, old.replica);
  delete from limit_quota q using (
    select o.limit_name, o.starts_at from limit_quota o
      where o.starts_at < date_trunc('month', now(), 'UTC') for update skip locked
  ) old where (q.limit_name, q.starts_at) = (old.limit_name, old.starts_at);
$$;
