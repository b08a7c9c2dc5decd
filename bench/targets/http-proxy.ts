import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { root } from '../lib/files.ts';
import { freePort } from '../lib/free-port.ts';
import { findTool, tool, versionOf } from '../lib/tools.ts';
import type { Target, Running, TargetEnvironment } from './target.ts';
import { factTable, writeFactTable } from './facts.ts';

/** @fastify/http-proxy as it comes, facts in memory. */
export const httpProxy: Target = {
  name: 'http-proxy',
  title: '@fastify/http-proxy, same rule, in memory',
  enforces: 'acting',
  missing: () => undefined,
  version: packageVersions,
  start: (environment) => startServer('http-proxy', environment, {}, []),
};

/** The obvious Node build: the same with every fact read from Redis, pipelined automatically. */
export const httpProxyRedis: Target = {
  name: 'http-proxy-redis',
  title: '@fastify/http-proxy, same rule, two Redis reads',
  enforces: 'acting',
  missing: () => (findTool('redis-server') === undefined ? 'apt-get install redis-server' : undefined),
  version: () =>
    `${packageVersions()}, ioredis ${packageVersion('ioredis')}, ${versionOf('redis-server', '-v')}`,
  async start(environment) {
    const port = await freePort();
    const redis = environment.processes.start({
      name: 'redis',
      command: tool('redis-server'),
      args: ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', environment.dir],
      core: environment.otherCore,
    });
    await redis.listening(port);
    const url = `redis://127.0.0.1:${port}`;
    await fill(url, environment);
    return startServer('http-proxy-redis', environment, { REDIS_URL: url }, [redis.pid]);
  },
};

async function startServer(
  name: string,
  environment: TargetEnvironment,
  env: Readonly<Record<string, string>>,
  storePids: readonly number[],
): Promise<Running> {
  const port = await freePort();
  const server = environment.processes.start({
    name,
    command: process.execPath,
    args: [join(import.meta.dirname, 'http-proxy-server.js')],
    core: environment.proxyCore,
    env: {
      NODE_ENV: 'production',
      PORT: String(port),
      UPSTREAM: `http://127.0.0.1:${environment.upstreamPort}`,
      FACTS: writeFactTable(environment.dir, environment.tenants),
      ...env,
    },
  });
  await server.listening(port);
  return {
    port,
    tenants: environment.tenants,
    proxyPids: [server.pid],
    storePids,
    stop: () => server.stop(),
  };
}

async function fill(url: string, { tenants }: TargetEnvironment): Promise<void> {
  const redis = new Redis(url);
  try {
    await redis.mset(factTable(tenants).flat());
  } finally {
    redis.disconnect();
  }
}

function packageVersions(): string {
  const names = ['fastify', '@fastify/http-proxy', '@fastify/reply-from', 'undici'];
  return names.map((name) => `${name} ${packageVersion(name)}`).join(', ');
}

function packageVersion(name: string): string {
  const file = join(root, 'node_modules', name, 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
