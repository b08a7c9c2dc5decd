-- Adds a batch, once. Returns the time, the totals of the limits in the batch, and a page of the present month's
-- limits near their end: at most `most` of those that were added to or changed after `after`, in that order, and the
-- position after the page (null if it is the last). `after` is `{"at", "limit"}`; for the first page it has no
-- `limit`.
create or replace function limit_month_exchange(of_replica text, of_batch bigint, additions jsonb, after jsonb, most int) returns jsonb
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  this_month constant timestamptz := date_trunc('month', clock_timestamp(), 'UTC');
  -- Limits near their end were added to or changed in this month, except by replicas whose clock is ahead. Rows of
  -- the month before are many.
  since constant timestamptz := greatest((after ->> 'at')::timestamptz, this_month - interval '1 minute');
  present timestamptz;
  near jsonb;
  rows_read bigint;
  last_row jsonb;
begin
  perform limit_month_note(of_replica, of_batch, additions);
  -- This is read before the page, because the next round begins there.
  present := clock_timestamp();
  select jsonb_agg(jsonb_build_object('limit', p.limit_name, 'monthMs', extract(epoch from p.month) * 1000, 'used', p.used)),
      count(*), (array_agg(jsonb_build_object('at', p.near_at, 'limit', p.limit_name) order by p.near_at desc, p.limit_name desc))[1]
    into near, rows_read, last_row
    from (
      select n.month, n.limit_name, n.used, n.near_at from limit_month n
        where n.near_at >= since and (n.near_at, n.limit_name) > (since, coalesce(after ->> 'limit', ''))
          and n.month = this_month
        order by n.near_at, n.limit_name limit most
    ) p;
  return jsonb_build_object(
    'nowMs', extract(epoch from present) * 1000,
    'totals', limit_month_totals(additions) || coalesce(near, '[]'),
    'next', case when rows_read = most then last_row end
  );
end $$;
