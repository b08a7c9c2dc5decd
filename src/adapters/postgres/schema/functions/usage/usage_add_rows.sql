-- Adds a journal's rows with the numbers from `from_position` (inclusive) to `to_position` (exclusive), unless any of
-- them has already been added. Returns the number below which all of the journal's rows have now been added. The lock on the journal's row makes processes that send the
-- same journal wait for each other.
--
-- The sender knows that the store had all rows below `after_position`. If the store lacks some now, the database went
-- back in time, and reports say that counts are lost. A journal without a row began after what the database went back
-- to: its id is a UUIDv7, which holds the time.
--
-- `confirmed` is null if it is not known which quotas the counts are a part of.
--
-- A journal is remembered for 400 days after its last batch, even if its process stopped normally. The journal's folder
-- may come back with a machine's disk, and the rows in it must not be counted twice.
create or replace function usage_add_rows(
  journal text, after_position bigint, from_position bigint, to_position bigint, counts usage_counted[], keys_per_account_hour int,
  through_ms double precision, of_host text, confirmed bigint
) returns table (rows_in bigint, now_ms double precision) language plpgsql as $$
declare
  known bigint;
  is_new boolean;
begin
  insert into usage_journal (id, through, host) values (journal, coalesce(to_timestamp(through_ms / 1000), now()), of_host)
    on conflict (id) do update set at = now(), forgotten = false
    returning position, xmax = 0 into known, is_new;
  if known < after_position then
    update usage_journal j set lost_until = now(), lost_from = least(j.lost_from, case
        when is_new and journal ~ '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}$' then to_timestamp(event_tick_of(journal::uuid) / 4096000.0) else j.through
      end)
      where j.id = journal;
    known := after_position;
  end if;
  if from_position >= known and to_position > known then
    perform usage_count(counts, keys_per_account_hour);
    if confirmed is not null then
      perform quota_catch_up(counts, confirmed);
    end if;
    known := to_position;
  end if;
  if to_position <= known then
    update usage_journal j set position = known, at = now(),
      through = greatest(j.through, coalesce(to_timestamp(through_ms / 1000), j.through))
      where j.id = journal;
  end if;
  -- A journal's first batch also deletes old journals, so this runs about once per process.
  if known = 0 then
    delete from usage_journal j where j.at < now() - interval '400 days';
  end if;
  return query select known, extract(epoch from clock_timestamp())::double precision * 1000;
end $$;
