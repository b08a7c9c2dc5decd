-- Adds a batch of 0.1.0.
create or replace function usage_add(batch text, counts jsonb, replica text, through_ms double precision) returns void
language plpgsql as $$
declare
  is_new boolean := false;
begin
  if counts <> '[]' then
    insert into usage_batch (id) values (batch) on conflict do nothing;
    is_new := found;
  end if;
  if is_new then
    perform usage_count(counts);
  end if;
  insert into usage_replica (id, through, at) values (replica, to_timestamp(through_ms / 1000), now())
    on conflict (id) do update set through = greatest(usage_replica.through, excluded.through), at = now();
  delete from usage_batch b where b.at < now() - interval '2 days';
  delete from usage_replica r where r.at < now() - interval '2 days';
end $$;
