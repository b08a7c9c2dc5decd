-- Fails with TG001 if any replica below level `needed` is registered; the error's detail lists the versions of such
-- replicas. A change calls this instead of `fleet_require` if replicas of lower levels may register again after it: what
-- the change has stored is safe beside them, but they do not enforce all of it.
create or replace function fleet_check(needed int) returns void language plpgsql as $$
declare
  versions text;
begin
  select string_agg(distinct coalesce(r.version, 'unknown'), ', ') into versions
    from replica r where r.level < needed;
  if versions is not null then
    raise exception using errcode = 'TG001', message = 'replicas are registered that cannot enforce this change',
      detail = versions;
  end if;
end $$;
