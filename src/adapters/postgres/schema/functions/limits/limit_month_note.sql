-- Adds a batch of a replica, once.
create or replace function limit_month_note(of_replica text, of_batch bigint, additions jsonb) returns void
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if additions = '[]' then
    return;
  end if;
  insert into limit_month_batch as b (replica, batch) values (of_replica, of_batch)
    on conflict (replica) do update set batch = excluded.batch, at = now() where b.batch < excluded.batch;
  if found then
    -- Rows are locked in the same order everywhere, so that two replicas queue and do not deadlock.
    insert into limit_month as m (month, limit_name, used, quota, near_at)
      select to_timestamp(g."monthMs" / 1000), g."limit", g.requests, g.quota,
        case when limit_near(g.requests, g.quota) then clock_timestamp() end
      from jsonb_to_recordset(additions) g ("limit" text, "monthMs" double precision, requests bigint, quota bigint)
      order by 1, 2
    on conflict (month, limit_name) do update set
      used = m.used + excluded.used, quota = coalesce(m.changed_to, excluded.quota),
      near_at = case
        when limit_near(m.used + excluded.used, coalesce(m.changed_to, excluded.quota)) then clock_timestamp()
      end;
  end if;
  delete from limit_month m where m.month < date_trunc('month', now(), 'UTC') - interval '1 month';
  delete from limit_month_batch b where b.at < now() - interval '2 days';
end $$;
