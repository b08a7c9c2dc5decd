/** The same small service in each framework: `FRAMEWORK=fastify|express|hono DATABASE_URL=… PORT=3000 node service.mjs` */
import { addShipment, listShipments } from './shipments.mjs';

const port = Number(process.env.PORT ?? 3000);
const hostname = '127.0.0.1';
const gateways = process.env.GATEWAYS ? { gateways: process.env.GATEWAYS.split(',') } : {};
const options = { ...gateways, exempt: ['/healthz'] };

/** For a probe: the names of the headers that it sent. */
const health = (headers) => ({ headers: Object.keys(headers) });

const services = {
  async fastify() {
    const { default: Fastify } = await import('fastify');
    const { requireTenant, tenantOf } = await import('./fastify.ts');
    const app = Fastify();
    requireTenant(app, options);
    app.get('/healthz', (request) => health(request.headers));
    app.get('/me', (request) => tenantOf(request));
    app.get('/shipments', (request) => listShipments(tenantOf(request)));
    app.post('/shipments', async (request, reply) =>
      reply.code(201).send(await addShipment(tenantOf(request), request.body)),
    );
    await app.listen({ host: hostname, port });
  },

  async express() {
    const { default: express } = await import('express');
    const { requireTenant, tenantOf } = await import('./express.ts');
    const app = express();
    app.use(requireTenant(options));
    app.get('/healthz', (request, response) => void response.json(health(request.headers)));
    app.get('/me', (request, response) => void response.json(tenantOf(request)));
    app.get(
      '/shipments',
      async (request, response) => void response.json(await listShipments(tenantOf(request))),
    );
    app.post('/shipments', express.json(), async (request, response) => {
      response.status(201).json(await addShipment(tenantOf(request), request.body));
    });
    app.listen(port, hostname);
  },

  async hono() {
    const { Hono } = await import('hono');
    const { serve } = await import('@hono/node-server');
    const { requireTenant, tenantOf } = await import('./hono.ts');
    const app = new Hono();
    app.use(requireTenant(options));
    app.get('/healthz', (c) => c.json(health(c.req.header())));
    app.get('/me', (c) => c.json(tenantOf(c)));
    app.get('/shipments', async (c) => c.json(await listShipments(tenantOf(c))));
    app.post('/shipments', async (c) => c.json(await addShipment(tenantOf(c), await c.req.json()), 201));
    serve({ fetch: app.fetch, hostname, port });
  },
};

await services[process.env.FRAMEWORK ?? 'fastify']();
