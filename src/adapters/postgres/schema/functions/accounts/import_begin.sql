-- Lets only one command-line import write at a time; the others wait.
create or replace function import_begin() returns void language sql volatile as $$
  select pg_advisory_xact_lock(7311970457)
$$;
