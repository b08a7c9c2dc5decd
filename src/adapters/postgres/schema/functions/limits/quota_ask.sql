-- Requests tokens from quotas, and returns the answers in the order of the questions. A token is a request, or a unit
-- for a quota of units.
--
-- A question contains two totals for the current series: the tokens that the replica has spent, and the tokens that it
-- still holds. These totals replace the replica's earlier totals in `limit_hold`, so a repeated question does not count
-- tokens twice. If an answer is lost, the replica's next totals do not include the tokens granted by that answer, and
-- the quota gets these tokens back. A replica may have spent more units than it was granted, because a response says
-- what its request was worth. `used` stays far below the largest bigint, whatever responses say.
--
-- A new series begins with each window, and whenever an account gets a quota.
create or replace function quota_ask(of_replica text, questions jsonb) returns jsonb language plpgsql
set enable_seqscan = off set jit = off as $$
declare
  answers jsonb[] := '{}';
  asked record;
  starts timestamptz;
  ends timestamptz;
  quota limit_quota;
  held limit_hold;
  free bigint;
  granted bigint;
begin
  -- This commit need not survive a database crash, because the next question repeats the totals.
  perform set_config('synchronous_commit', 'off', true);
  -- All calls lock rows in the same order, and so do changes of quotas (`quotas_changed`), so they cannot deadlock.
  for asked in
    select q.*
      from rows from (
        jsonb_to_recordset(questions) as (
          "limit" text, period text, capacity bigint, needed bigint, ahead bigint, series bigint, spent bigint, hand bigint
        )
      ) with ordinality q ("limit", period, capacity, needed, ahead, series, spent, hand, place)
      order by q."limit" collate "C"
  loop
    starts := date_trunc(asked.period, clock_timestamp(), 'UTC');
    -- Added to a timestamptz, a month would be one of the session's time zone.
    ends := (starts at time zone 'UTC' + ('1 ' || asked.period)::interval) at time zone 'UTC';
    quota := quota_of(asked."limit", starts);
    select * into held from limit_hold h
      where h.limit_name = asked."limit" and h.starts_at = starts and h.replica = of_replica;
    -- A replica that asks about a different series, or none, holds no tokens of the current one.
    if asked.series is distinct from quota.series then
      asked.spent := coalesce(held.spent, 0);
      asked.hand := 0;
    end if;
    quota.used := least(
      quota.used + asked.spent + asked.hand - coalesce(held.spent + held.hand, 0), 1000 * 9007199254740991
    );
    if quota.used + asked.needed > asked.capacity then
      quota.used := quota.used - quota_let_go(asked."limit", starts, of_replica);
    end if;
    -- Tokens held by one replica cannot be used by the others. So when few tokens are left, a replica gets only a small
    -- share of them for requests that it merely expects.
    free := greatest(0, asked.capacity - quota.used);
    granted := least(free, asked.needed + least(asked.ahead, greatest(0, free - asked.needed) / 64));
    update limit_quota u set used = quota.used + granted, quota = asked.capacity
      where u.limit_name = asked."limit" and u.starts_at = starts;
    insert into limit_hold as h (limit_name, starts_at, replica, spent, hand, at)
      values (
        asked."limit", starts, of_replica, asked.spent + least(granted, asked.needed),
        asked.hand + granted - least(granted, asked.needed), clock_timestamp()
      )
      on conflict (limit_name, starts_at, replica) do update set
        spent = excluded.spent, hand = excluded.hand, at = excluded.at;
    answers[asked.place] := jsonb_build_object(
      'granted', granted, 'left', free - granted,
      'window', jsonb_build_object(
        'series', quota.series, 'spent', asked.spent,
        'lengthMs', extract(epoch from ends - starts) * 1000,
        'endsInMs', extract(epoch from ends - clock_timestamp()) * 1000
      )
    );
  end loop;
  -- A question creates at most one row in each table, and a sweep looks at about two thousand. So few ended windows are
  -- left. The sweep comes last, when no more rows are locked, so that it cannot be part of a deadlock.
  if random() < 0.005 * jsonb_array_length(questions) then
    perform quota_sweep();
  end if;
  return to_jsonb(answers);
end $$;
