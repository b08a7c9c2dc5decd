import type { RequestRecord } from '../../ports/request-record.ts';
import type { TailFilter } from '../../ports/tails.ts';

const maxPathLength = 1_024;

/** A finished request that is to be shown, and when it ended. */
export interface SeenRequest {
  /** Wall-clock time, milliseconds since 1970. */
  readonly atMs: number;
  readonly record: Omit<RequestRecord, 'head'>;
}

/** Whether a tail shows a request. */
export function matches({ accountId, keyId, code }: TailFilter, record: RequestRecord): boolean {
  if (code !== undefined && record.code !== code) return false;
  if (keyId !== undefined && record.keyId !== keyId) return false;
  return (
    accountId === undefined ||
    record.caller === accountId ||
    record.resolvedTenant === accountId ||
    record.parent === accountId
  );
}

/** Keeps of a record what a line shows, so that no request is held in memory with its headers. */
export function seen({ head: _head, ...record }: RequestRecord, atMs: number): SeenRequest {
  return { atMs, record };
}

/** Returns the line for a request, as JSON. It begins with the time, so that sorting lines sorts them by time. */
export function lineOf({ atMs, record }: SeenRequest, replicaId: string): string {
  const { path, parent = null } = record;
  return JSON.stringify({
    at: new Date(atMs).toISOString(),
    replica_id: replicaId,
    request_id: record.requestId,
    method: record.method,
    path: path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path,
    route: record.route,
    status: record.status,
    code: record.code,
    ms: Math.round(record.durationMs * 10) / 10,
    account_id: record.caller,
    parent_id: parent,
    resolved_tenant: record.resolvedTenant,
    api_key_id: record.keyId,
  });
}
