-- Returns `added`, a batch's sums by key for one account and hour, but gives the hour at most `keys_per_account_hour`
-- keys. A key that already has a row keeps it. New keys get rows in the order of their ids until the hour has its
-- maximum. The sums of the remaining keys are added up under the nil UUID, which comes first.
--
-- Batches that run at the same time do not see each other's new rows. So an hour may exceed the maximum by the new keys
-- of the batches that were running when the maximum was reached.
--
-- `order by` and the settings of `usage_add_hours` make the look-up use the primary key.
create or replace function usage_share_keys(added usage_hourly[], keys_per_account_hour int) returns usage_hourly[]
language sql stable as $$
  with present as (
    select h.key_id from usage_hourly h
    where (h.root_id, h.account_id, h.hour) = (added[1].root_id, added[1].account_id, added[1].hour)
      and h.key_id > '00000000-0000-0000-0000-000000000000'
    order by h.key_id
  ), numbered as (
    select s, p.key_id is null and row_number() over (partition by p.key_id is null order by s.key_id)
        > keys_per_account_hour - (select count(*) from present) as shares
    from unnest(added) s left join present p using (key_id)
  ), final as (
    select (n.s).root_id, (n.s).account_id, (n.s).hour,
      case when n.shares then '00000000-0000-0000-0000-000000000000' else (n.s).key_id end as key_id,
      sum((n.s).requests), sum((n.s).reads), sum((n.s).writes), sum((n.s).client_errors), sum((n.s).server_errors),
      sum((n.s).bytes_in), sum((n.s).bytes_out), units_sum(sum((n.s).units))
    from numbered n group by 1, 2, 3, 4
  )
  select array_agg(row(f.*)::usage_hourly order by f.key_id) from final f
$$;
