-- Rows of tenants, kept apart by PostgreSQL itself (row-level security): a transaction says in the setting `app.tenant` whose rows
-- it may see and write. Without the setting there are none, so a query that forgets it shows nothing of another tenant's.
create table shipment (
  id bigint generated always as identity primary key,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  destination text not null
);
create index shipment_of_tenant on shipment (tenant_id, id);

alter table shipment enable row level security;
create policy own_shipments on shipment using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

-- The role of the services: not the owner of the table, whom policies do not hold.
do $$ begin
  if not exists (select from pg_roles where rolname = 'shipping_service') then
    create role shipping_service nologin;
  end if;
end $$;
grant select, insert on shipment to shipping_service;
