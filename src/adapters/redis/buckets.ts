import { createHash } from 'node:crypto';
import type { RedisAddress } from '../../config/redis/redis-address.ts';
import type { TokenAnswer, TokenQuestion, TokenStore } from '../../ports/limits/token-store.ts';
import { redisClient, type RedisClient } from './client.ts';
import { watchReachability, type RedisEvents } from './reachability.ts';

export interface RedisBucketsOptions extends RedisEvents {
  readonly address: RedisAddress;
  /** Returns the name of the database's history, so that a copy of the database has buckets of its own. */
  readonly history: () => string | null;
}

/**
 * Lua script that takes tokens from buckets, like `askBucket` in `domain/limits/bucket.ts`. Redis stores each bucket as
 * a string: its tokens, and the time of its last update in milliseconds on the Redis server's clock. The string expires
 * one second after the bucket is full again. A value in any other format counts as a full bucket.
 *
 * ARGV has five numbers per bucket: capacity, tokens per second, tokens given back, tokens needed, and tokens wanted in
 * advance. The reply has two numbers per bucket: the tokens granted and the tokens left.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local answers = {}
for i = 1, #KEYS do
  local a = 5 * (i - 1)
  local capacity, rate, back = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), tonumber(ARGV[a + 3])
  local needed, ahead = tonumber(ARGV[a + 4]), tonumber(ARGV[a + 5])
  local value = redis.pcall('GET', KEYS[i])
  local level, at
  if type(value) == 'string' then level, at = string.match(value, '^(%d+%.%d+) (%d+%.%d+)$') end
  level, at = tonumber(level) or capacity, tonumber(at) or now
  if at > now then at = now end
  local tokens = math.max(0, math.min(capacity, level + (now - at) * rate / 1000 + back))
  local spare = math.max(0, math.floor((tokens - needed - capacity / 2) / 4))
  local granted = math.min(math.floor(tokens + 1e-6), needed + math.min(ahead, spare))
  local left = math.max(0, tokens - granted)
  local full = math.ceil((capacity - left) * 1000 / rate)
  redis.call('SET', KEYS[i], string.format('%.6f %.3f', left, now), 'PX', string.format('%.0f', full + 1000))
  answers[2 * i - 1] = string.format('%.0f', granted)
  answers[2 * i] = string.format('%.6f', left)
end
return answers`;
const digest = createHash('sha1').update(script).digest('hex');
/** Redis key that is never set; reading it only shows whether Redis responds. */
const noKey = 'tg:bucket:';

/** Buckets in Redis, until they are closed. */
export interface RedisBuckets extends TokenStore {
  close(): void;
}

/**
 * Opens buckets in Redis, stored as one short string per limit in use. While Redis is not connected, calls fail at once, so
 * that no request waits for a connection.
 */
export function redisBuckets(options: RedisBucketsOptions): RedisBuckets {
  const client = redisClient(options.address);
  const trouble = watchReachability(client, options);
  client.connect().catch(() => undefined);
  // In a cluster, all keys of a script call must be on the same server, so each call gets only one key.
  const most = options.address.kind === 'cluster' ? 1 : mostTogether;
  return {
    async ask(questions) {
      if (client.status !== 'ready') throw new Error('Redis is not connected');
      if (questions.length === 0) {
        await client.get(noKey);
        return [];
      }
      const parts = Array.from({ length: Math.ceil(questions.length / most) }, (_, i) =>
        questions.slice(i * most, (i + 1) * most),
      );
      const history = options.history();
      if (history === null) throw new Error('the store has not answered yet');
      const prefix = `${noKey}${history.slice(0, historyLength)}:`;
      const answers = await Promise.all(parts.map((part) => askTogether(client, prefix, part)));
      const failed = answers.filter((each) => each instanceof Error);
      for (const error of failed) trouble(error);
      // This error has no `cause`, because ioredis errors contain the command's arguments.
      if (failed.length === parts.length) throw new Error('Redis cannot be used for limits');
      return answers.flatMap((each, i): readonly (TokenAnswer | Error)[] =>
        each instanceof Error ? (parts[i] ?? []).map(() => each) : each,
      );
    },
    close: () => client.disconnect(),
  };
}

/** Maximum number of limits per script call. While a script is running, Redis serves no other client. */
const mostTogether = 100;

/** Number of characters of a history's name in keys. Histories are UUIDs, and few of them share a Redis. */
const historyLength = 8;

async function askTogether(
  client: RedisClient,
  prefix: string,
  questions: readonly TokenQuestion[],
): Promise<TokenAnswer[] | Error> {
  const keys = questions.map(({ limit }) => prefix + limit);
  const args = questions.flatMap(({ capacity, perSecond, back, needed, ahead }) =>
    [capacity, perSecond, back, needed, ahead].map(String),
  );
  try {
    const reply = await client.evalsha(digest, keys.length, ...keys, ...args).catch((error: unknown) => {
      // A server that was restarted or flushed no longer has the script.
      if (error instanceof Error && error.message.startsWith('NOSCRIPT'))
        return client.eval(script, keys.length, ...keys, ...args);
      throw error;
    });
    return questions.map((_, i) => answerAt(reply as readonly string[], 2 * i));
  } catch (error) {
    return error instanceof Error ? error : new Error('unknown');
  }
}

function answerAt(reply: readonly string[], i: number): TokenAnswer {
  return { granted: Number(reply[i]), left: Number(reply[i + 1]) };
}
