import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { LookupFunction } from 'node:net';
import type { Registry } from 'prom-client';
import { readAuthorization } from '../../config/usage/authorization.ts';
import type { UsageConfig } from '../../config.ts';
import type { Logger } from '../../ops/logger.ts';
import { counter, gauge } from '../../ops/metrics.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timers } from '../../ports/timers.ts';
import type { UsageStore } from '../../ports/usage.ts';
import type { UsageExportStore } from '../../ports/usage/export.ts';
import type { Receiver } from '../../ports/usage/receiver.ts';
import type { UsageReplay } from '../../ports/usage/replay.ts';
import { UsageExporter } from '../../usage/export/exporter.ts';
import { openReceiver } from '../../usage/export/receiver.ts';
import { usageReplay } from '../../usage/export/replay.ts';

export interface ExportingParts {
  readonly config: Pick<UsageConfig, 'export' | 'lostAfterMs'>;
  readonly store: UsageExportStore;
  readonly usage: UsageStore;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly registry: Registry;
  /** Looks up the receiver's host name. */
  readonly lookup: LookupFunction;
}

/** Exports usage to a billing system. */
export interface Exporting {
  start(): void;
  /** Stops the export. Resolves once nothing is being sent any more. */
  stop(): Promise<void>;
  /** Re-exports the usage of past hours; `null` if usage is not exported. */
  readonly replay: UsageReplay | null;
}

/** Makes the usage export and its metrics, which are 0 if usage is not exported. */
export function makeExporting(parts: ExportingParts): Exporting {
  const { config, usage, clock, timers, logger, registry, lookup } = parts;
  const exported = counter(
    registry,
    'usage_export_events_total',
    'Events of usage that the billing system accepted, by kind: hour or correction.',
    'kind',
  );
  const rejected = counter(
    registry,
    'usage_export_rejected_total',
    'Events of usage that the billing system rejected and that were left out; the log has them.',
  );
  const failures = counter(
    registry,
    'usage_export_failures_total',
    'Failed attempts to export usage; they are repeated.',
  );
  let exporter: UsageExporter | undefined;
  gauge(
    registry,
    'usage_export_lag_seconds',
    'Time since the end of the oldest hour that is not exported; 0 if usage is not exported.',
    () => (exporter?.lagMs() ?? 0) / 1000,
  );
  for (const kind of ['hour', 'correction']) exported.add(0, kind);
  if (config.export === null) return { start: () => undefined, stop: () => Promise.resolve(), replay: null };

  const settings = config.export;
  const connect = (): Receiver => {
    const { authorizationFile, caFile } = settings;
    const authorization = authorizationFile === null ? null : readAuthorization(authorizationFile);
    return openReceiver(
      settings,
      { authorization, ca: caFile === null ? null : readFileSync(caFile) },
      timers,
      lookup,
    );
  };
  const made = (exporter = new UsageExporter({
    ...{ store: parts.store, usage, config: settings, connect, id: randomUUID(), logger, clock, timers },
    lostAfterMs: config.lostAfterMs,
    onExported: (kind, events) => exported.add(events, kind),
    onRejected: () => rejected.count(),
    onFailed: () => failures.count(),
  }));
  return {
    start: () => made.start(),
    stop: () => made.stop(),
    replay: usageReplay({ store: parts.store, usage, config: settings, connect }),
  };
}
