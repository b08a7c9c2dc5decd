import { join } from 'node:path';
import { render } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { findTool, tool, versionOf } from '../lib/tools.ts';
import type { Target } from './target.ts';
import { writeFactTable } from './facts.ts';

/** HAProxy with the whole rule, facts in maps loaded at start. */
export const haproxy: Target = {
  name: 'haproxy',
  title: 'HAProxy, same rule, maps',
  enforces: 'acting',
  missing: () => (findTool('haproxy') === undefined ? 'apt-get install haproxy' : undefined),
  version: () => versionOf('haproxy', '-v'),
  async start({ processes, dir, upstreamPort, tenants, proxyCore }) {
    const port = await freePort();
    const facts = writeFactTable(dir, tenants);
    const config = render('targets/haproxy.cfg', { port, upstreamPort, facts }, join(dir, 'haproxy.cfg'));
    const started = processes.start({
      name: 'haproxy',
      command: tool('haproxy'),
      args: ['-db', '-f', config],
      core: proxyCore,
    });
    await started.listening(port);
    return { port, tenants, proxyPids: [started.pid], storePids: [], stop: () => started.stop() };
  },
};
