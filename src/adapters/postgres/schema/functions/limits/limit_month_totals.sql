-- Returns the totals of the limits in a batch, as JSON.
create or replace function limit_month_totals(additions jsonb) returns jsonb language sql stable
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
  select coalesce(jsonb_agg(jsonb_build_object(
      'limit', m.limit_name, 'monthMs', extract(epoch from m.month) * 1000, 'used', m.used
    )), '[]')
    from jsonb_array_elements(additions) g
    join limit_month m on m.month = to_timestamp((g ->> 'monthMs')::double precision / 1000)
      and m.limit_name = g ->> 'limit'
$$;
