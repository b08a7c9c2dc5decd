import type { ReceivedHead, RequestRecord } from '../ports/request-record.ts';
import type { RequestTrace } from '../ports/tracer.ts';
import type { Decision } from './decision.ts';
import type { Route } from './route.ts';

/** Status in logs for a client that left before there was a response; nginx uses the same number. */
export const clientGone = 499;

/** The end of an exchange. Times are in milliseconds; `startedMs` is monotonic. */
export interface End {
  readonly requestId: string;
  readonly method: string;
  /** As the client sent it. */
  readonly target: string;
  readonly status: number;
  readonly code: RequestRecord['code'];
  readonly limit: RequestRecord['limit'];
  readonly startedMs: number;
  readonly upstreamMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly head: ReceivedHead;
  /** For the log. */
  readonly cause?: unknown;
}

/** Tells the observer of a finished exchange, ends the trace, and logs a failure. */
export function reportFinished(
  { config, deps }: Route,
  { admission, caller, keyId }: Decision,
  trace: RequestTrace | null,
  end: End,
): void {
  const { requestId, method, target, status, code, bytesIn, bytesOut } = end;
  if (end.cause !== undefined) deps.failures.write(end.cause, { route: config.prefix, requestId, code });
  const path = pathOf(target);
  trace?.end({
    requestId,
    path,
    status,
    code,
    callerKnown: caller !== null,
    upstreamResponded: end.upstreamMs !== null,
  });
  deps.observe({
    requestId,
    method,
    path,
    route: config.prefix,
    status,
    code,
    limit: end.limit,
    reason: admission?.permit.reason ?? null,
    keyId,
    caller: caller?.accountId ?? null,
    resolvedTenant: admission?.permit.resolvedTenant ?? null,
    durationMs: deps.clock.monotonicMs() - end.startedMs,
    upstreamMs: end.upstreamMs,
    bytesIn,
    bytesOut,
    head: end.head,
  });
}

function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
