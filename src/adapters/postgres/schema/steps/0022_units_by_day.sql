-- compatible with: 6
-- locks for a moment: usage_daily
-- Counts units by the day, too.

alter table usage_daily add column units bigint not null default 0;
