-- Returns the column of the quota with this name: 'requests_per_day' for `parent:0198…:day`, 'requests_per_month' for
-- `parent:0198…:month`, and 'units_per_month' for `parent:0198…:month:units`.
create or replace function quota_column(of_limit text) returns text language sql immutable as $$
  select case split_part(of_limit, ':', 4) when '' then 'requests' else 'units' end || '_per_' || split_part(of_limit, ':', 3)
$$;
