-- compatible with: 6
-- Figures that each replica reports about itself every few seconds, for operators. No decision depends on them, and a
-- crash of the server may empty the table. Replicas without this step never read or write it.

create unlogged table replica_figures (
  replica text primary key,
  reported_at timestamptz(3) not null,
  figures jsonb not null
) with (fillfactor = 50);
