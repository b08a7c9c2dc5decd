import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config.ts';

/** Thrown if a new configuration differs in settings that cannot change while a process runs. */
export class NeedsRestart extends Error {
  override readonly name = 'NeedsRestart';
}

/** Parts of the configuration that a running process cannot change, with their names in the file. */
const fixed = {
  listen: 'listen',
  internal: 'internal',
  store: 'database, data_dir',
  redis: 'redis',
  workers: 'workers',
  migrate: 'migrate',
  coherence: 'coherence',
  headers: 'headers',
  events: 'events',
  usage: 'usage',
  log: 'log',
  tracing: 'tracing',
} as const satisfies Partial<Record<keyof Config, string>>;

/**
 * Checks that `wanted` can replace `running` without a restart. Both are configurations as they were read, before
 * the gateway adds parts of its own.
 *
 * @throws {NeedsRestart} if a restart is needed
 */
export function mustNotNeedRestart(running: Config, wanted: Config): void {
  const fixed = restartNeeded(running, wanted);
  if (fixed.length > 0) throw new NeedsRestart(`takes effect only with a restart: ${fixed.join('; ')}`);
}

/**
 * Returns the sections of the file that differ and need a restart. Both configurations are as they were read, before
 * the gateway adds parts of its own.
 */
export function restartNeeded(running: Config, wanted: Config): string[] {
  const names: string[] = Object.entries(fixed)
    .filter(([key]) => !isDeepStrictEqual(running[key as keyof Config], wanted[key as keyof Config]))
    .map(([, name]) => name);
  if (!isDeepStrictEqual(portalAddress(running), portalAddress(wanted)))
    names.push('portal.host, portal.port');
  if (running.limits.answerMs !== wanted.limits.answerMs) names.push('limits.answer_ms');
  return names;
}

function portalAddress({ portal }: Config): object | null {
  return portal && { host: portal.host, port: portal.port };
}
