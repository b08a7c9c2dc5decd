/** Acme's API: shipments, each customer's own. Everything but the question who calls is the same behind the gateway. */
import Fastify from 'fastify';
import postgres from 'postgres';
import { tenantByGateway } from './tenant-by-gateway.mjs';
import { tenantByKey } from './tenant-by-key.mjs';

const { HOST = '127.0.0.1', PORT = '3000', ACME_DATABASE_URL = '', TENANT_BY = 'key' } = process.env;
const sql = postgres(ACME_DATABASE_URL, { max: 4 });
const app = Fastify();
const findTenant = TENANT_BY === 'gateway' ? tenantByGateway : tenantByKey;

app.decorateRequest('tenant', '');
app.addHook('onRequest', async (request, reply) => {
  request.tenant = (await findTenant(sql, request.headers)) ?? '';
  if (request.tenant === '') return reply.code(401).send({ error: 'Unknown API key.' });
});

/** Runs `work` as a tenant: PostgreSQL shows it that tenant's rows and no others. */
function asTenant(tenant, work) {
  return sql.begin(async (transaction) => {
    await transaction`set local role acme_api`;
    await transaction`select set_config('acme.tenant', ${tenant}, true)`;
    return work(transaction);
  });
}

app.get('/shipments', ({ tenant }) =>
  asTenant(tenant, (transaction) => transaction`select id::int, destination from shipment order by id`),
);

app.post('/shipments', async ({ tenant, body }, reply) => {
  const [made] = await asTenant(
    tenant,
    (transaction) =>
      transaction`insert into shipment (destination) values (${body.destination}) returning id::int, destination`,
  );
  return reply.code(201).send(made);
});

process.once('SIGTERM', () => void app.close().then(() => sql.end()));
await app.listen({ host: HOST, port: Number(PORT) });
