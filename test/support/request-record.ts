import type { RequestRecord } from '../../src/ports/request-record.ts';

/** What is noted of a request: by default of a GET without a caller, which had its response. */
export function requestRecord(more: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: 'r',
    method: 'GET',
    path: '/orders',
    route: '/',
    status: 200,
    code: null,
    keyId: null,
    caller: null,
    resolvedTenant: null,
    reason: null,
    durationMs: 2,
    upstreamMs: 1,
    bytesIn: 0,
    bytesOut: 0,
    head: { rawHeaders: [], socket: {} },
    ...more,
  };
}
