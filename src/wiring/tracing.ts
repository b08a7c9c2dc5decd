import type { Config } from '../config.ts';
import type { Tracing, TracingParts } from '../ops/tracing.ts';
import { version } from './version.ts';

/** Starts tracing if it is configured; its modules are loaded only then. */
export async function openTracing(
  { tracing }: Pick<Config, 'tracing'>,
  parts: Omit<TracingParts, 'config' | 'version'>,
): Promise<Tracing | null> {
  if (tracing === null) return null;
  const { startTracing } = await import('../ops/tracing.ts');
  return startTracing({ ...parts, config: tracing, version: version() });
}
