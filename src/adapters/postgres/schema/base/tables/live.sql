-- Figures that each replica reports about itself every few seconds, for operators. No decision depends on them, and a
-- crash of the server may empty the table.
create unlogged table replica_figures (
  replica text primary key,
  reported_at timestamptz(3) not null,
  figures jsonb not null
) with (fillfactor = 50);

-- Tails: streams of finished requests that operators watch (`GET /admin/v1/live`). Each replica adds the requests it has
-- served, and the one with the operator's connection takes them twice a second. A crash of the server may empty these
-- tables, which ends the tails.
create unlogged table tail (
  id uuid primary key,
  -- A number from 1 to the maximum of open tails, so that no two sessions can open the last one.
  slot smallint not null unique check (slot > 0),
  filter jsonb not null,
  expires_at timestamptz(3) not null,
  -- Number of its lines that are stored, and number that the latest addition was granted. The row's lock makes additions
  -- wait for each other, so the sum never passes its bound.
  held int not null default 0 check (held >= 0),
  granted int not null default 0
) with (fillfactor = 50);

create unlogged table tail_line (
  tail uuid not null references tail (id) on delete cascade,
  line text not null
);
create index tail_line_tail on tail_line (tail);

-- Replicas that collect for a tail, with the number of requests that each has left out, and its open exchanges that
-- match the tail: requests without a response yet, and streams.
create unlogged table tail_replica (
  tail uuid not null references tail (id) on delete cascade,
  replica text not null,
  dropped bigint not null,
  requests int not null,
  streams int not null,
  primary key (tail, replica)
) with (fillfactor = 50);
