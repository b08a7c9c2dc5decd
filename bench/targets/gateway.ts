import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { startPostgres } from '../lib/postgres-server.ts';
import type { Target } from './target.ts';
import { seedTenants, type SeededLimits } from './seed.ts';

const builtHere = join(root, 'dist/main.js');

/** The gateway as it was just built. */
export const gateway = gatewayBuiltAt(builtHere, 'gateway', 'Tenancy Gateway, PostgreSQL');

/** The same with one line a request, into a file. */
export const gatewayWithAccessLog = gatewayBuiltAt(
  builtHere,
  'gateway-logging',
  'the gateway, access log on',
  { logLevel: 'info' },
);

/** The same where the key, the sub-account and the parent have limits, two of them by the month as well, which nothing reaches. */
export const gatewayWithLimits = gatewayBuiltAt(builtHere, 'gateway-limits', 'the gateway, under limits', {
  limits: { requests_per_second: 1_000_000, requests_per_month: 1_000_000_000 },
});

/**
 * Flags that the image of a build gives Node.js, by the `CMD` of its Dockerfile; none if there is no Dockerfile.
 *
 * @param program the build's main.js
 */
export function flagsOfImage(program: string): readonly string[] {
  const dockerfile = join(dirname(program), '../Dockerfile');
  const command = existsSync(dockerfile) && /^CMD (\[.*\])$/m.exec(readFileSync(dockerfile, 'utf8'))?.[1];
  return command ? (JSON.parse(command) as string[]).slice(1, -1) : [];
}

/**
 * A build of the gateway as it is deployed: PostgreSQL, metrics and metering on, Node.js with the flags of the image;
 * access log off as everywhere here.
 *
 * @param program its main.js
 * @param differently `logLevel` `info` turns the access log on
 */
export function gatewayBuiltAt(
  program: string,
  name: string,
  title: string,
  { logLevel = 'warn', limits }: { logLevel?: 'info' | 'warn'; limits?: SeededLimits } = {},
): Target {
  return {
    name,
    title,
    enforces: 'acting',
    missing: () => (existsSync(program) ? undefined : 'npm run build'),
    version({ node }) {
      const { version } = JSON.parse(readFileSync(join(dirname(program), '../package.json'), 'utf8')) as {
        version: string;
      };
      return `tenancy-gateway ${version}, ${node.version}`;
    },
    async start({ processes, dir, upstreamPort, proxyCore, node }) {
      const postgres = await startPostgres(process.env['TEST_POSTGRES_BIN'] ?? '');
      const [port, internalPort] = [await freePort(), await freePort()];
      const config = join(dir, 'gateway.yaml');
      writeFileSync(config, configuration);
      const server = processes.start({
        name,
        command: node.program,
        args: [...flagsOfImage(program), ...node.flags, program],
        core: proxyCore,
        env: {
          NODE_ENV: 'production',
          CONFIG: config,
          DATABASE_URL: postgres.url,
          ADMIN_TOKEN: adminToken,
          PORT: String(port),
          INTERNAL_PORT: String(internalPort),
          UPSTREAM_URL: `http://127.0.0.1:${upstreamPort}`,
          LOG_LEVEL: logLevel,
        },
      });
      const stop = async (): Promise<void> => {
        await server.stop();
        await postgres.stop();
      };
      try {
        await server.listening(port);
        const tenants = await seedTenants({ port, internalPort, adminToken, ...(limits && { limits }) });
        return { port, tenants, proxyPids: [server.pid], storePids: [postgres.pid], stop };
      } catch (error) {
        await stop();
        throw error;
      }
    },
  };
}

/** The internal listener is on loopback and lives as long as the run. */
const adminToken = 'bench-0123456789abcdef0123456789abcdef';

/** Only what a thousand connections of one tenant would run into is changed. */
const configuration = `
limits:
  in_flight_per_tenant: 10000
route_defaults:
  connections: 4096
`;
