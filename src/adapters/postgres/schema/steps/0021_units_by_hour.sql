-- compatible with: 6
-- locks for a moment: usage_hourly
-- Counts the units that responses say their requests were worth (`usage.units_header`). Adding a column with a constant
-- default neither rewrites a table nor reads its rows. Null is no units: functions of 0.2.0, which stay in force until
-- the last of these steps, insert whole rows that they made without this column.

alter table usage_hourly add column units bigint default 0;
