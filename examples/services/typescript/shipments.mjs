/** What the three example services have in common: shipments, each tenant's own. */
import postgres from 'postgres';

const sql = postgres(process.env.DATABASE_URL, { max: 4 });

/** Runs `work` as a tenant: PostgreSQL shows it that tenant's rows and no others. */
function asTenant({ id }, work) {
  return sql.begin(async (transaction) => {
    await transaction`set local role shipping_service`;
    await transaction`select set_config('app.tenant', ${id}, true)`;
    return work(transaction);
  });
}

export const listShipments = (tenant) =>
  asTenant(tenant, (transaction) => transaction`select id::int, destination from shipment order by id`);

export async function addShipment(tenant, { destination }) {
  const [made] = await asTenant(
    tenant,
    (transaction) =>
      transaction`insert into shipment (destination) values (${destination}) returning id::int, destination`,
  );
  return made;
}
