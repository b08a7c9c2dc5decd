-- Requests tokens from buckets, like `askBucket` in `src/domain/limits/bucket.ts`, and returns the answers in the order
-- of the questions. A bucket without a row is full.
create or replace function bucket_ask(questions jsonb) returns jsonb language plpgsql as $$
declare
  present timestamptz;
  answers jsonb[] := '{}';
  asked record;
  bucket limit_bucket;
  spare double precision;
  granted double precision;
begin
  -- All calls lock rows in the same order, so two replicas cannot deadlock.
  for asked in
    select q.*
      from rows from (
        jsonb_to_recordset(questions) as (
          "limit" text, capacity double precision, "perSecond" double precision, back double precision,
          needed double precision, ahead double precision
        )
      ) with ordinality q ("limit", capacity, per_second, back, needed, ahead, place)
      order by q."limit"
  loop
    select * into bucket from limit_bucket b where b.limit_name = asked."limit" for update;
    if not found then
      insert into limit_bucket (limit_name, tokens, at, full_at) values (asked."limit", asked.capacity, now(), now())
        on conflict (limit_name) do nothing;
      select * into bucket from limit_bucket b where b.limit_name = asked."limit" for update;
    end if;
    -- The time is read after the row has been locked, so that the row's time never goes backwards.
    present := clock_timestamp();
    bucket.tokens := greatest(0, least(
      asked.capacity,
      bucket.tokens + greatest(0, extract(epoch from present - bucket.at)) * asked.per_second + asked.back
    ));
    spare := greatest(0, floor((bucket.tokens - asked.needed - asked.capacity / 2) / 4));
    granted := least(floor(bucket.tokens + 0.000001), asked.needed + least(asked.ahead, spare));
    bucket.tokens := greatest(0, bucket.tokens - granted);
    update limit_bucket b set
      tokens = bucket.tokens, at = present,
      full_at = present + (asked.capacity - bucket.tokens) / asked.per_second * interval '1 second'
      where b.limit_name = asked."limit";
    answers[asked.place] := jsonb_build_object('granted', granted, 'left', bucket.tokens);
  end loop;
  -- A question creates at most one row, and a sweep looks at thousands. So few full buckets are left.
  if random() < 0.005 * jsonb_array_length(questions) then
    perform bucket_sweep();
  end if;
  return to_jsonb(answers);
end $$;
