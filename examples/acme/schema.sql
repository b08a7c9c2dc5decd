-- Acme's database: customers, the keys they have, and what belongs to each. PostgreSQL itself keeps customers apart, by
-- row-level security: a transaction says whose rows it may see in the setting `acme.tenant`.
create table tenant (
  id uuid primary key,
  reference text unique,
  name text,
  parent_id uuid references tenant (id)
);

create table api_key (
  sha256 bytea primary key,
  tenant_id uuid not null references tenant (id),
  label text not null,
  last4 text not null
);

create table shipment (
  id bigint generated always as identity primary key,
  tenant_id uuid not null default current_setting('acme.tenant')::uuid references tenant (id),
  destination text not null
);

alter table shipment enable row level security;
create policy own_shipments on shipment using (tenant_id = current_setting('acme.tenant')::uuid);

do $$ begin
  if not exists (select from pg_roles where rolname = 'acme_api') then
    create role acme_api nologin;
  end if;
end $$;
grant select, insert on shipment, tenant to acme_api;
grant select on api_key to acme_api;

-- Two customers and their keys: acme_live_J2q8Yx4nRt6WbK0vLm3P is Babbage's, acme_live_V7c5Tz9dFh1GsN4uQe8A is Curie's.
insert into tenant (id, reference, name) values
  ('7d1f0c3a-52b4-4e0e-9a59-0d3c6b1e8f01', 'cus_1001', 'Babbage Freight'),
  ('7d1f0c3a-52b4-4e0e-9a59-0d3c6b1e8f02', 'cus_1002', 'Curie Post');
insert into api_key (sha256, tenant_id, label, last4) values
  (sha256('acme_live_J2q8Yx4nRt6WbK0vLm3P'), '7d1f0c3a-52b4-4e0e-9a59-0d3c6b1e8f01', 'Warehouse', 'Lm3P'),
  (sha256('acme_live_V7c5Tz9dFh1GsN4uQe8A'), '7d1f0c3a-52b4-4e0e-9a59-0d3c6b1e8f02', 'Shop', 'Qe8A');
insert into shipment (tenant_id, destination) values
  ('7d1f0c3a-52b4-4e0e-9a59-0d3c6b1e8f01', 'London'),
  ('7d1f0c3a-52b4-4e0e-9a59-0d3c6b1e8f02', 'Paris');
