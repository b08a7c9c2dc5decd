import type { RequestParties, RequestRecord } from '../../ports/request-record.ts';
import type { TailFilter } from '../../ports/tails.ts';

const maxPathLength = 1_024;

/** A finished request that is to be shown, and when it ended. */
export interface SeenRequest {
  /** Wall-clock time, milliseconds since 1970. */
  readonly atMs: number;
  readonly record: Omit<RequestRecord, 'head'>;
}

/** Whether a tail shows a request. */
export function matches(filter: TailFilter, record: RequestRecord): boolean {
  return (filter.code === undefined || record.code === filter.code) && isBy(filter, record);
}

/** Whether a request is by the key and the account of a tail. */
export function isBy({ accountId, keyId }: TailFilter, parties: RequestParties): boolean {
  if (keyId !== undefined && parties.keyId !== keyId) return false;
  return (
    accountId === undefined ||
    parties.caller === accountId ||
    parties.resolvedTenant === accountId ||
    parties.parent === accountId
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
