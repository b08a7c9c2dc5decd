import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HttpClient } from '../../test/e2e/faults/support/http-client.ts';
import type { Asked } from '../../test/e2e/faults/support/replica.ts';
import { eventually } from '../../test/support/eventually.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import type { PrivateServer } from '../../test/support/servers.ts';
import { inEnvironment, type Environment } from '../environment.ts';
import { root } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { buildPaced, rawRequest, sendAtRate, type OpenLoop, type Pacing } from '../load/paced.ts';

/** T of every gateway here, as it is by default. */
export const leaseMs = 3_000;

/** A gateway as a process of its own. */
export interface Gateway extends Asked {
  readonly port: number;
  readonly pid: number;
}

/** Stores that are stopped and killed, gateways over them, and what sends those requests. */
export interface OutageEnvironment {
  readonly postgres: PrivateServer;
  readonly redis: PrivateServer;
  readonly base: Environment;
  /** Starts a gateway, on the core of all gateways, and waits until it decides. @param databaseUrl in place of that of {@link postgres} */
  gateway(name: string, stores: 'with Redis' | 'without Redis', databaseUrl?: string): Promise<Gateway>;
  /** Sends GETs with these keys in turn at a constant rate. */
  load(gateway: Gateway, keys: readonly string[], how: Load): Promise<OpenLoop>;
  say(line: string): void;
}

export type Load = Pick<Pacing, 'rate' | 'seconds' | 'onSlot' | 'evenly'> & { readonly connections?: number };

const adminToken = 'bench-0123456789abcdef0123456789abcdef';

/**
 * Gateways have one core to themselves and everything else has another one, this process included. PostgreSQL writes
 * through to the disk.
 */
export async function inOutageEnvironment<T>(
  cores: Pick<Environment, 'proxyCore' | 'otherCore'>,
  say: (line: string) => void,
  work: (environment: OutageEnvironment) => Promise<T>,
): Promise<T> {
  return inEnvironment(cores, async (base) => {
    buildPaced();
    // Here the core of everything else also has PostgreSQL, Redis and this process on it.
    base.upstream.nginx.goFirst();
    const ends: (() => unknown)[] = [];
    const scope = { teardown: (end: () => unknown) => ends.unshift(end) };
    try {
      const [postgres, redis] = await Promise.all([startPostgres(scope, { fsync: 'on' }), startRedis(scope)]);
      return await work({
        postgres,
        redis,
        base,
        say,
        gateway: async (name, stores, databaseUrl = postgres.url) => {
          const env = {
            DATABASE_URL: databaseUrl,
            ...(stores === 'with Redis' && { REDIS_URL: redis.url }),
          };
          const gateway = await startGateway(name, base, env);
          ends.unshift(() => Promise.all([gateway.client.close(), gateway.operator.close()]));
          return gateway;
        },
        load: (gateway, keys, how) => load(base, gateway, keys, how),
      });
    } finally {
      for (const end of ends) await end();
    }
  });
}

async function startGateway(
  name: string,
  { dir, processes, proxyCore, upstream }: Environment,
  env: Readonly<Record<string, string>>,
): Promise<Gateway> {
  const [port, internalPort] = [await freePort(), await freePort()];
  const configuration = join(dir, 'unlimited.yaml');
  // One parent makes all changes here.
  writeFileSync(configuration, 'limits: { changes_per_second: 0 }\n');
  const started = processes.start({
    name: name.replaceAll(' ', '-'),
    command: process.execPath,
    args: [`${root}/dist/main.js`],
    core: proxyCore,
    env: {
      NODE_ENV: 'production',
      ADMIN_TOKEN: adminToken,
      PORT: String(port),
      INTERNAL_PORT: String(internalPort),
      UPSTREAM_URL: `http://127.0.0.1:${upstream.port}`,
      COHERENCE_LEASE_MS: String(leaseMs),
      LOG_LEVEL: 'error',
      CONFIG: configuration,
      ...env,
    },
  });
  // What the machine does for itself, every few seconds and for some tens of milliseconds, is not the gateway's.
  started.goFirst();
  await started.listening(port);
  const client = new HttpClient(`http://127.0.0.1:${port}`);
  const operator = new HttpClient(`http://127.0.0.1:${internalPort}`, adminToken);
  await eventually(async () => (await operator.send('GET', '/readyz'))?.status === 200, { limitMs: 60_000 });
  return { name, client, operator, port, pid: started.pid };
}

function load(
  { processes, dir, otherCore: core }: Environment,
  { port }: Gateway,
  keys: readonly string[],
  { connections = 128, ...how }: Load,
): Promise<OpenLoop> {
  const request = rawRequest(port, 'GET', '/shipments', { headers: { authorization: 'Bearer {key}' } });
  return sendAtRate({ processes, dir, core, port, request, keys, connections, first: true, ...how });
}
