import type { Config } from '../config.ts';
import type { Tracing, TracingParts } from '../ops/tracing.ts';
import { version } from './version.ts';

/** Starts tracing, or returns `null` if it is not configured. The tracing modules are loaded only if needed. */
export async function openTracing(
  { tracing }: Pick<Config, 'tracing'>,
  parts: Omit<TracingParts, 'config' | 'version'>,
): Promise<Tracing | null> {
  if (tracing === null) return null;
  const { startTracing } = await import('../ops/tracing.ts');
  return startTracing({ ...parts, config: tracing, version: version() });
}
