-- compatible with: 6
-- locks for a moment: usage_late
-- Notes units that come after their hour was closed.

alter table usage_late add column units bigint not null default 0;
