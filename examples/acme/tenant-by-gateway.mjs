/**
 * Behind the gateway: who calls is who the gateway says. Its ids are Acme's own, since they came with the import. A
 * sub-account that was not here before gets its row, below the customer it belongs to.
 *
 * Only the gateway may reach this process. Another client could send these headers itself.
 */
export async function tenantByGateway(sql, headers) {
  const { 'x-service-resolved-tenant': tenant, 'x-service-parent-tenant': parent } = headers;
  if (tenant !== parent)
    await sql`insert into tenant (id, parent_id) values (${tenant}, ${parent}) on conflict (id) do nothing`;
  return tenant;
}
