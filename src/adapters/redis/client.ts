import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress, RedisTls } from '../../config/redis/redis-address.ts';

/**
 * The Redis commands that the gateway uses, on one server or a cluster. ioredis collects the commands issued in one
 * event-loop tick and sends them to each server in one batch.
 */
export interface RedisClient {
  readonly status: string;
  get(key: string): Promise<string | null>;
  set(key: string, value: string, unit: 'PX', ttlMs: number): Promise<unknown>;
  unlink(key: string): Promise<unknown>;
  /** Runs the script with this SHA-1 digest; rejects with `NOSCRIPT` if the server does not have it. */
  evalsha(digest: string, keys: number, ...args: (string | number)[]): Promise<unknown>;
  eval(script: string, keys: number, ...args: (string | number)[]): Promise<unknown>;
  on(event: 'ready' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<void>;
  disconnect(): void;
}

/** Maximum pause between connection attempts, in milliseconds. */
const retryMs = 1_000;

/** Creates a client that fails fast: it queues no commands while it is disconnected, and never resends a command. */
export function redisClient(address: RedisAddress): RedisClient {
  const { username, password } = address;
  const tls = address.tls && connectionOptions(address.tls);
  const perServer = {
    lazyConnect: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1_000,
    // A connection counts as dead if it receives nothing for this long while commands are waiting for replies.
    socketTimeout: 1_000,
    connectionName: 'tenancy-gateway',
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(tls && { tls }),
  } satisfies RedisOptions;
  const single = {
    ...perServer,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    retryStrategy: pause,
  } satisfies RedisOptions;
  switch (address.kind) {
    case 'single':
      return new Redis({ ...single, ...address.at, db: address.db });
    case 'sentinel':
      return new Redis({
        ...single,
        sentinels: [...address.sentinels],
        name: address.master,
        db: address.db,
        sentinelRetryStrategy: pause,
        ...(address.sentinelPassword !== null && { sentinelPassword: address.sentinelPassword }),
        ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
      });
    case 'cluster':
      return new Cluster([...address.nodes], {
        redisOptions: perServer,
        lazyConnect: true,
        enableOfflineQueue: false,
        enableAutoPipelining: true,
        maxRedirections: 3,
        clusterRetryStrategy: pause,
        // Certificates name hosts, so with TLS a node's host name must not be replaced by its address.
        ...(tls && { dnsLookup: (host, found) => found(null, host) }),
      });
  }
}

/**
 * Returns the TLS options. `rejectUnauthorized: true` is the default, but is set explicitly because it is essential: a
 * server without a valid certificate must not receive any commands.
 */
function connectionOptions({ caFile, certFile, keyFile }: RedisTls): ConnectionOptions {
  return {
    rejectUnauthorized: true,
    ...(caFile !== null && { ca: readFileSync(caFile) }),
    ...(certFile !== null && { cert: readFileSync(certFile) }),
    ...(keyFile !== null && { key: readFileSync(keyFile) }),
  };
}

function pause(attempt: number): number {
  return Math.min(50 * attempt, retryMs);
}
