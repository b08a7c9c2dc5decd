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

/** Longest wait for an exchange, milliseconds. */
const timeoutMs = 300;
/** Milliseconds after which Redis forgets a report. */
const keepMs = 120_000;

/**
 * Replaces one replica's report on one limit, and returns the time and all reports, each with its own time. It uses one
 * key, so it also runs on a cluster. The time is that of Redis, because the clocks of replicas may differ. It deletes
 * anything that no replica wrote: a key that is no hash, and a report without a time or with one too far from now.
 */
const exchange = scriptOf(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'hash' and kind ~= 'none' then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local all = redis.call('HGETALL', KEYS[1])
local peers = { string.format('%.0f', now) }
for i = 1, #all, 2 do
  local at = tonumber(string.match(all[i + 1], '^%d+') or '') or 0
  if math.abs(now - at) > tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], all[i])
  elseif all[i] ~= ARGV[1] then
    peers[#peers + 1] = all[i]
    peers[#peers + 1] = all[i + 1]
  end
end
return peers`);
/**
 * Servers of a cluster have their own clocks, so the time always comes from the one that has this key. The key is never
 * set.
 */
const clockKey = 'tg:limit-clock';
const askTime = scriptOf(`
local time = redis.call('TIME')
return { string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)) }`);

interface Script {
  readonly text: string;
  readonly digest: string;
}

function scriptOf(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') };
}

/** Board of reports in Redis, with one hash for each limit. No request waits for it to connect. */
export function redisShareBoard(options: RedisShareBoardOptions): ShareBoard & { close(): void } {
  const client = redisClient(options.address);
  const trouble = watchReachability(client, options);
  client.connect().catch(() => undefined);
  return {
    async exchange(replica, reports) {
      if (client.status !== 'ready') throw new Error('Redis is not connected');
      const asksClock = options.address.kind === 'cluster' || reports.length === 0;
      const clock = asksClock ? [clockOf(client)] : [];
      const work = reports.map((report) => exchangeOne(client, replica, report));
      const [times, readings] = await inTime(options.timers, clock, work);
      const heard = readings.flatMap((reading) => (reading instanceof Error ? [] : [reading]));
      for (const failed of new Set([...times, ...readings])) if (failed instanceof Error) trouble(failed);
      const [time] = times;
      // The error has no cause, because that would hold the arguments of a command.
      if (heard.length === 0 && (reports.length > 0 || typeof time !== 'number'))
        throw new Error('Redis cannot be used for limits');
      return {
        nowMs: typeof time === 'number' ? time : Math.max(...heard.map(({ nowMs }) => nowMs)),
        peers: heard.flatMap(({ peers }) => peers),
        unheard: new Set(reports.filter((_, i) => readings[i] instanceof Error).map(({ limit }) => limit)),
      };
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
  const [now, ...rest] = await run(client, exchange, ...args);
  const nowMs = Number(now);
  const peers: PeerReport[] = [];
  for (let i = 0; i + 1 < rest.length; i += 2) {
    const peer = parse(limit, rest[i] ?? '', rest[i + 1] ?? '', nowMs);
    if (peer !== undefined) peers.push(peer);
  }
  return { nowMs, peers };
}

/** Returns `undefined` for a text that no replica of this version wrote. */
function parse(limit: string, replica: string, text: string, nowMs: number): PeerReport | undefined {
  const [atMs = NaN, series = NaN, used = NaN, demand = NaN, level = NaN, share = NaN] = text
    .split(' ')
    .map(Number);
  if (![atMs, series, used, demand, level, share].every(Number.isFinite)) return undefined;
  return { limit, replica, series, used, demand, level, share, ageMs: Math.max(0, nowMs - atMs) };
}

async function clockOf(client: RedisClient): Promise<number> {
  return Number((await run(client, askTime, clockKey))[0]);
}

async function run(
  client: RedisClient,
  { text, digest }: Script,
  key: string,
  ...args: (string | number)[]
): Promise<[string, ...string[]]> {
  const reply = await client.evalsha(digest, 1, key, ...args).catch((error: unknown) => {
    // A server that was restarted or flushed does not know the script any more.
    if (error instanceof Error && error.message.startsWith('NOSCRIPT'))
      return client.eval(text, 1, key, ...args);
    throw error;
  });
  return reply as [string, ...string[]];
}

/** Returns each result, or its error if it fails or takes too long. */
async function inTime<A, B>(
  timers: Timers,
  first: readonly Promise<A>[],
  others: readonly Promise<B>[],
): Promise<[(A | Error)[], (B | Error)[]]> {
  let cancel = (): void => undefined;
  const late = new Promise<Error>((resolve) => {
    cancel = timers.after(timeoutMs, () => resolve(new Error('Redis is too slow')));
  });
  const settle = <T>(reply: Promise<T>): Promise<T | Error> =>
    Promise.race([
      reply.catch((error: unknown) => (error instanceof Error ? error : new Error('unknown'))),
      late,
    ]);
  const all = await Promise.all([Promise.all(first.map(settle)), Promise.all(others.map(settle))]);
  cancel();
  return all;
}
