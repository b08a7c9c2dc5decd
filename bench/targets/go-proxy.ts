import { join } from 'node:path';
import { root } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { buildGo, goMissing, goVersion } from '../lib/go.ts';
import { writeFactTable } from './facts.ts';
import type { Target } from './target.ts';

/** Go's own reverse proxy with the whole rule, facts in a map: what a team that writes Go would build. */
export const goProxy: Target = {
  name: 'go-proxy',
  title: 'Go httputil.ReverseProxy, same rule, in memory',
  enforces: 'acting',
  missing: goMissing,
  version: goVersion,
  async start({ processes, dir, upstreamPort, tenants, proxyCore }) {
    const port = await freePort();
    const server = processes.start({
      name: 'go-proxy',
      command: buildGo(join(root, 'bench/targets/go-proxy.go'), 'go-proxy'),
      args: [],
      core: proxyCore,
      env: {
        PORT: String(port),
        UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
        FACTS: writeFactTable(dir, tenants),
      },
    });
    await server.listening(port);
    return { port, tenants, proxyPids: [server.pid], storePids: [], stop: () => server.stop() };
  },
};
