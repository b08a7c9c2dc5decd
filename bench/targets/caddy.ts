import { join } from 'node:path';
import { render } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { builtFrom, goMissing, installGo } from '../lib/go.ts';
import { findTool, versionOf } from '../lib/tools.ts';
import type { Target } from './target.ts';

/** The newest, and the newest that an older Go can build. */
const versions = ['latest', 'v2.10.2', 'v2.8.4'];

/** Caddy that knows keys from a static map. */
export const caddy: Target = {
  name: 'caddy',
  title: 'Caddy, static map of keys',
  enforces: 'key',
  missing: () => (findTool('caddy') === undefined ? goMissing() : undefined),
  // Which version `go install` took is in the program; `caddy version` then says `unknown`.
  version: () =>
    `Caddy ${findTool('caddy') === undefined ? builtFrom(program()) : versionOf('caddy', 'version')}`,
  async start({ processes, dir, upstreamPort, tenants, proxyCore }) {
    const port = await freePort();
    const { parentKey, subAccountKey } = tenants;
    const keys = [parentKey, subAccountKey]
      .map(({ text, accountId }) => `\t\t"Bearer ${text}" ${accountId}`)
      .join('\n');
    const config = render('targets/caddy.Caddyfile', { port, upstreamPort, keys }, join(dir, 'Caddyfile'));
    const server = processes.start({
      name: 'caddy',
      command: program(),
      args: ['run', '--config', config, '--adapter', 'caddyfile'],
      core: proxyCore,
      // Where it would keep certificates.
      env: { XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir },
    });
    await server.listening(port);
    return { port, tenants, proxyPids: [server.pid], storePids: [], stop: () => server.stop() };
  },
};

function program(): string {
  return findTool('caddy') ?? installGo('github.com/caddyserver/caddy/v2/cmd/caddy', 'caddy', versions);
}
