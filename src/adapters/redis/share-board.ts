import { createHash } from 'node:crypto';
import type { RedisAddress } from '../../config/redis/redis-address.ts';
import type { LimitReport, PeerReport, ShareBoard } from '../../ports/limits/share-board.ts';
import type { Timers } from '../../ports/timers.ts';
import { redisClient, type RedisClient } from './client.ts';
import { watchReachability, type RedisEvents } from './reachability.ts';

export interface RedisShareBoardOptions extends RedisEvents {
  readonly address: RedisAddress;
  readonly timers: Timers;
}

/** Longest wait for an exchange. */
const timeoutMs = 300;
/** After this Redis forgets a report. */
const keepMs = 120_000;

/**
 * Replaces the report of one replica on one limit, and returns the time with all reports, which say when they were given.
 * One key, so that it runs on a cluster as well. The time is that of Redis: the clocks of replicas may differ.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local all = redis.call('HGETALL', KEYS[1])
local peers = { string.format('%.0f', now) }
for i = 1, #all, 2 do
  if now - tonumber(string.match(all[i + 1], '^%d+')) > tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], all[i])
  elseif all[i] ~= ARGV[1] then
    peers[#peers + 1] = all[i]
    peers[#peers + 1] = all[i + 1]
  end
end
return peers`;
const digest = createHash('sha1').update(script).digest('hex');

/** Reports of replicas in Redis, as one hash a limit. Never connected to on the way of a request. */
export function redisShareBoard(options: RedisShareBoardOptions): ShareBoard & { close(): void } {
  const client = redisClient(options.address);
  const trouble = watchReachability(client, options);
  client.connect().catch(() => undefined);
  return {
    async exchange(replica, reports) {
      if (client.status !== 'ready') throw new Error('Redis is not connected');
      try {
        const work = Promise.all(reports.map((report) => exchangeOne(client, replica, report)));
        const readings = await inTime(options.timers, work);
        return {
          nowMs: Math.max(...readings.map(({ nowMs }) => nowMs)),
          peers: readings.flatMap(({ peers }) => peers),
        };
      } catch (error) {
        trouble(error);
        // Without it as its cause: the error of a command holds its arguments.
        // eslint-disable-next-line preserve-caught-error
        throw new Error('Redis cannot be used for limits');
      }
    },
    close: () => client.disconnect(),
  };
}

interface Reading {
  readonly nowMs: number;
  readonly peers: readonly PeerReport[];
}

async function exchangeOne(client: RedisClient, replica: string, report: LimitReport): Promise<Reading> {
  const { limit, series, used, demand, level, share } = report;
  const args = [
    `tg:limit:${limit}`,
    replica,
    [series, used, demand, level, share].join(' '),
    keepMs,
  ] as const;
  const reply = await client.evalsha(digest, 1, ...args).catch((error: unknown) => {
    // A server that was started or flushed since does not know the script.
    if (error instanceof Error && error.message.startsWith('NOSCRIPT'))
      return client.eval(script, 1, ...args);
    throw error;
  });
  const [now, ...rest] = reply as [string, ...string[]];
  const nowMs = Number(now);
  const peers: PeerReport[] = [];
  for (let i = 0; i + 1 < rest.length; i += 2) {
    const peer = parse(limit, rest[i] ?? '', rest[i + 1] ?? '', nowMs);
    if (peer !== undefined) peers.push(peer);
  }
  return { nowMs, peers };
}

/** `undefined` for what no replica of this version wrote. */
function parse(limit: string, replica: string, text: string, nowMs: number): PeerReport | undefined {
  const [atMs = NaN, series = NaN, used = NaN, demand = NaN, level = NaN, share = NaN] = text
    .split(' ')
    .map(Number);
  if (![atMs, series, used, demand, level, share].every(Number.isFinite)) return undefined;
  return { limit, replica, series, used, demand, level, share, ageMs: Math.max(0, nowMs - atMs) };
}

function inTime<T>(timers: Timers, reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(timeoutMs, () => reject(new Error('Redis is too slow')));
    reply.then(resolve, reject).finally(cancel);
  });
}
