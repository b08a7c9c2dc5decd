-- Returns whether `made`, the result of a request with an Idempotency-Key, is about an account that has been deleted: an
-- account, a key, or the keys of an import.
create or replace function result_is_deleted(made jsonb) returns boolean language sql stable as $$
  select exists (
    select from account a left join account p on p.id = a.parent_id
    where a.id in (
        select (r.record ->> m.member)::uuid
        from (values ('id'), ('parent_id'), ('account_id')) m (member),
          (
            select made
            union all
            select k from jsonb_array_elements(case jsonb_typeof(made -> 'keys') when 'array' then made -> 'keys' end) k
          ) r (record)
        where jsonb_typeof(r.record) = 'object'
      )
      and (a.deleted_at is not null or p.deleted_at is not null)
  )
$$;
