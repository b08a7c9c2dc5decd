-- Returns `added`, the sums of a batch, with at most `keys_per_account_hour` keys for an account and hour. A key that
-- has a row there keeps it. New keys get rows in the order of their ids while there are free ones. The sums of the
-- other keys are added up under the nil UUID.
--
-- Batches that run at the same time do not see each other's new rows. So an hour may exceed the number by the new keys
-- of the batches that were running when it was reached.
--
-- A batch takes one index look-up per account and hour, and one more per key if the hour may become full. The settings
-- keep these look-ups on the primary key, in the order of its keys: the index `usage_hourly_of_root` has the rows of
-- all accounts of a parent. Through a pooler `jit` would be on, and compile the disabled sort each time.
create or replace function usage_share_keys(added usage_hourly[], keys_per_account_hour int) returns usage_hourly[]
language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set jit = off as $$
declare
  nil constant uuid := '00000000-0000-0000-0000-000000000000';
  sharing usage_hourly[];
begin
  with crowded as materialized (
    select g.root_id, g.account_id, g.hour, keys_per_account_hour - h.keys as free
    from (select s.root_id, s.account_id, s.hour, count(*) as keys from unnest(added) s group by 1, 2, 3) g
      cross join lateral (
        select count(*) as keys from (
          select from usage_hourly h
          where h.root_id = g.root_id and h.account_id = g.account_id and h.hour = g.hour and h.key_id > nil
          order by h.key_id limit keys_per_account_hour
        ) h
      ) h
    where h.keys + g.keys > keys_per_account_hour
  ), fresh as (
    select s, c.free, row_number() over (partition by c.root_id, c.account_id, c.hour order by s.key_id) as number
    from unnest(added) s join crowded c using (root_id, account_id, hour)
    where s.key_id is distinct from (
      select h.key_id from usage_hourly h
      where h.root_id = c.root_id and h.account_id = c.account_id and h.hour = c.hour and h.key_id >= s.key_id
      order by h.key_id limit 1
    )
  )
  select array_agg(f.s) into sharing from fresh f where f.number > f.free;
  if sharing is null then
    return added;
  end if;
  return array(
    select row(k.*)::usage_hourly from (
      (select * from unnest(added) except all select * from unnest(sharing))
      union all
      select s.root_id, s.account_id, s.hour, nil, sum(s.requests), sum(s.reads), sum(s.writes), sum(s.client_errors),
        sum(s.server_errors), sum(s.bytes_in), sum(s.bytes_out)
      from unnest(sharing) s group by 1, 2, 3
    ) k
  );
end $$;
