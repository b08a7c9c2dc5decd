/** Stands for your API in the examples: answers what it was told about the caller. It knows nothing of keys. */
import { createServer } from 'node:http';

const { HOST = '127.0.0.1', PORT = '3000' } = process.env;

const server = createServer((request, reply) => {
  const { method, url, headers } = request;
  const body = {
    request: `${method} ${url}`,
    operates_on: headers['x-service-resolved-tenant'],
    caller: headers['x-service-caller-tenant'],
    scopes: headers['x-service-caller-scopes'],
  };
  reply.setHeader('Content-Type', 'application/json').end(`${JSON.stringify(body, null, 2)}\n`);
});

server.listen(Number(PORT), HOST);
process.on('SIGTERM', () => server.close());
