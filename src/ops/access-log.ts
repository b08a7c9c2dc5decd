import type { Logger } from './logger.ts';
import type { RequestObserver } from './request-record.ts';

const maxPathLength = 1024;

/** Writes one line a request, at `info`; `undefined` where the level leaves requests out, so that they cost nothing. */
export function accessLog(logger: Logger): RequestObserver | undefined {
  if (!logger.isLevelEnabled('info')) return undefined;
  return (record) => {
    logger.info(
      {
        request_id: record.requestId,
        method: record.method,
        path: record.path.length > maxPathLength ? `${record.path.slice(0, maxPathLength)}…` : record.path,
        route: record.route,
        status: record.status,
        code: record.code ?? undefined,
        key_id: record.keyId ?? undefined,
        tenant: record.resolvedTenant ?? undefined,
        reason: record.reason ?? undefined,
        ms: rounded(record.durationMs),
        upstream_ms: record.upstreamMs === null ? undefined : rounded(record.upstreamMs),
      },
      'request',
    );
  };
}

/** Tenths of a millisecond: clocks say more, readers want less. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
