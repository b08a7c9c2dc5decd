-- Returns the text that the name of an erased account or key is replaced with: the column may not be null. Responses of
-- this version show it only if an import is repeated.
create or replace function erased_name() returns text language sql immutable as $$
  select '(deleted)'
$$;
