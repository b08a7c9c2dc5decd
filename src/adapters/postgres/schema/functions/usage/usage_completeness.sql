-- Returns the time up to which all counts are in the store, and whether counts of a period may be missing for good. A
-- journal that has been silent for longer than `lost_after` no longer holds the report back. Its missing counts can
-- lie between the time up to which it has added all and one hour after its last sign of life; its last lease was
-- shorter than that hour. Replicas of 0.1.0 have no journal: one that has been silent for five minutes is dead, and
-- its last counts are lost.
create or replace function usage_completeness(lost_after interval, period_from timestamptz, period_to timestamptz)
returns table (through timestamptz, incomplete boolean) language sql stable as $$
  select
    least(
      now(),
      (select min(r.through) from usage_replica r where r.at > now() - interval '5 minutes'),
      (select min(j.through) from usage_journal j where j.at > now() - lost_after)
    ),
    exists (
      select from usage_journal j
      where j.through < 'infinity' and j.at <= now() - lost_after
        and j.through < period_to and j.at + interval '1 hour' > period_from
    )
$$;
