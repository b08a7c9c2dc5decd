import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../../../support/servers.ts';
import { serveStreams, type Passed } from './streams.ts';

/** The service behind the gateways: it responds with the tenant it was told to work on. Returns its URL. */
export async function startUpstream(t: Scope, passed: Passed = new Map()): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/streams/') === true) return;
    request.resume();
    const body = JSON.stringify({ tenant: request.headers['x-service-resolved-tenant'] });
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  serveStreams(server, passed);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
