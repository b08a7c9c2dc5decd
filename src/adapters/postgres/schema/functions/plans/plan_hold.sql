-- Locks plans until the commit, so that they stay as they are. A change calls this before it reads a plan's limits, and
-- after it has locked its accounts. A change of a plan waits for such a lock before it locks anything else, so the two
-- cannot deadlock. Returns whether all of these plans exist; null elements are ignored.
create or replace function plan_hold(names text[]) returns boolean language plpgsql as $$
declare
  held text[];
begin
  select array_agg(h.name) into held
    from (select p.name from plan p where p.name = any (names) order by p.name for share) h;
  return array_remove(names, null) <@ coalesce(held, '{}');
end $$;
