-- Returns `through`, the time up to which the store has all counts; `incomplete`, whether counts for the period may be
-- lost; and `silent`, the silent journals whose counts may be missing from a report on the period, by host, or by id if
-- the host is unknown.
--
-- A journal that has been given up (`usage_silent`) does not hold back `through`. Its lost counts are from the time
-- between its own `through` and one hour after its last batch. The journal's process counted nothing after that hour,
-- because the process's lease and streams lasted less than an hour.
create or replace function usage_completeness(lost_after interval, period_from timestamptz, period_to timestamptz)
returns table (through timestamptz, incomplete boolean, silent text[]) language sql stable as $$
  with silent as (
    select * from usage_silent(lost_after)
  )
  select
    least(
      now(),
      (select min(j.through) from usage_journal j where not exists (select from silent s where s.id = j.id and s.given_up))
    ),
    exists (
      select from silent s
      where s.given_up and s.through < period_to and s.at + interval '1 hour' > period_from
    ) or exists (select from usage_journal j where j.lost_from < period_to and j.lost_until > period_from),
    array(
      select coalesce(s.host, s.id) from silent s
      where s.through < period_to and (not s.given_up or s.at + interval '1 hour' > period_from)
      order by 1
    )
$$;
