-- compatible with: 6
-- locks for a moment: usage_hourly
-- Counts the units that responses say their requests were worth (`usage.units_header`). Adding a column with a constant
-- default neither rewrites a table nor reads its rows.

alter table usage_hourly add column units bigint not null default 0;
