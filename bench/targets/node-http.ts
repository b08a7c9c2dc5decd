import { join } from 'node:path';
import { freePort } from '../lib/free-port.ts';
import type { Target } from './target.ts';

/** Node's HTTP server without a rule and without an upstream: the least any Node program pays for a request. */
export const nodeHttp: Target = {
  name: 'node-http',
  title: 'bare node:http, no upstream',
  enforces: 'none',
  missing: () => undefined,
  version: ({ node }) => node.version,
  async start({ processes, tenants, proxyCore, node }) {
    const port = await freePort();
    const server = processes.start({
      name: 'node-http',
      command: node.program,
      args: [...node.flags, join(import.meta.dirname, 'node-http-server.js')],
      core: proxyCore,
      env: { NODE_ENV: 'production', PORT: String(port) },
    });
    await server.listening(port);
    return { port, tenants, proxyPids: [server.pid], storePids: [], stop: () => server.stop() };
  },
};
