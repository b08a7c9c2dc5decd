import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config.ts';

/** A configuration that differs in what a running process cannot exchange. */
export class NeedsRestart extends Error {
  override readonly name = 'NeedsRestart';
}

/** What is held by something that a running process cannot exchange, by its name in the file. */
const fixed = {
  listen: 'listen',
  internal: 'internal',
  store: 'database, data_dir',
  redisUrl: 'redis',
  redisMacKeyFile: 'redis',
  workers: 'workers',
  migrate: 'migrate',
  coherence: 'coherence',
  headers: 'headers',
  events: 'events',
  usage: 'usage',
  log: 'log',
  tracing: 'tracing',
} as const satisfies Partial<Record<keyof Config, string>>;

/** @throws {NeedsRestart} where `wanted` cannot take the place of `running` in a process. Both as they were read */
export function mustNotNeedRestart(running: Config, wanted: Config): void {
  const fixed = restartNeeded(running, wanted);
  if (fixed.length > 0) throw new NeedsRestart(`takes effect only with a restart: ${fixed.join('; ')}`);
}

/** Sections of the file that differ and take effect only with a restart. Both as they were read. */
export function restartNeeded(running: Config, wanted: Config): string[] {
  const names = Object.entries(fixed)
    .filter(([key]) => !isDeepStrictEqual(running[key as keyof Config], wanted[key as keyof Config]))
    .map(([, name]) => name);
  return [...new Set(names)];
}
