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
  migrate: 'migrate',
  coherence: 'coherence',
  headers: 'headers',
  log: 'log',
  tracing: 'tracing',
} as const satisfies Partial<Record<keyof Config, string>>;

/** Sections of the file that differ and take effect only with a restart. Both as they were read. */
export function restartNeeded(running: Config, wanted: Config): string[] {
  const names = Object.entries(fixed)
    .filter(([key]) => !isDeepStrictEqual(running[key as keyof Config], wanted[key as keyof Config]))
    .map(([, name]) => name);
  return [...new Set(names)];
}
