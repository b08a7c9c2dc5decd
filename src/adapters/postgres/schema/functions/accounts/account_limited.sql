-- Returns the account `a` with the limits in `limits` applied; its other limits stay unchanged. "unlimited" lifts a
-- limit of the account's plan.
create or replace function account_limited(a account, limits jsonb) returns account language plpgsql stable as $$
begin
  a := jsonb_populate_record(a, (select jsonb_object_agg(l.key, nullif(l.value, '"unlimited"')) from jsonb_each(limits) l));
  a.unlimited := unlimited_after(a.unlimited, limits);
  return a;
end $$;
