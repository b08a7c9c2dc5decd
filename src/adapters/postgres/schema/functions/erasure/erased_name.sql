-- Returns the text that the name of an erased account or key is replaced with: the column may not be null. Responses of
-- this version do not show it.
create or replace function erased_name() returns text language sql immutable as $$
  select '(deleted)'
$$;
