// @ts-check
import { startSupervised } from './supervised-server.mjs';

/**
 * Begins to start the PostgreSQL and the Redis that a whole run shares.
 * @param {ReturnType<typeof import('./find-postgres.mjs').findPostgres>} postgres
 * @param {ReturnType<typeof import('./find-redis.mjs').findRedis>} redis
 */
export function startServersOfRun(postgres, redis) {
  const starting = [
    startSupervised('postgres', { bin: postgres.bin }),
    ...(redis ? [startSupervised('redis', { server: redis.server, settings: { databases: '16384' } })] : []),
  ];
  return {
    /** Environment variables that tell tests where the servers are. */
    async addresses() {
      const [postgresServer, redisServer] = await Promise.all(starting);
      return {
        TEST_POSTGRES_BIN: postgres.bin,
        TEST_POSTGRES_URL: postgresServer?.url,
        TEST_REDIS_SERVER: redis?.server,
        TEST_REDIS_URL: redisServer?.url,
      };
    },
    async end() {
      const started = await Promise.allSettled(starting);
      await Promise.all(started.map((server) => server.status === 'fulfilled' && server.value.end()));
    },
  };
}
