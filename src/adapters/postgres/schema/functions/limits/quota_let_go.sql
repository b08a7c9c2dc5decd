-- Takes back the tokens of every replica whose last question is more than 15 seconds old, except those of `but_replica`.
-- Returns the number of tokens taken back. A live replica sends a question at least every 10 seconds.
create or replace function quota_let_go(of_limit text, starts timestamptz, but_replica text) returns bigint language sql as $$
  with gone as (
    select h.replica, h.hand from limit_hold h
      where h.limit_name = of_limit and h.starts_at = starts and h.replica <> but_replica and h.hand > 0
        and h.at < clock_timestamp() - interval '15 seconds'
      for update
  ), let_go as (
    update limit_hold h set hand = 0 from gone g
      where h.limit_name = of_limit and h.starts_at = starts and h.replica = g.replica
      returning g.hand
  )
  select coalesce(sum(l.hand), 0)::bigint from let_go l
$$;
