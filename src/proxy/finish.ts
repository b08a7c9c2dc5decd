import { methodKind } from '../domain/method.ts';
import type { RequestRecord } from '../ports/request-record.ts';
import type { Judgement } from './decision.ts';
import type { Relay } from './route.ts';

/** By convention of nginx: the client left before it was answered. */
export const clientGone = 499;

/** What only the exchange itself knows about its end. */
export interface End {
  readonly requestId: string;
  readonly method: string;
  /** As the client sent it. */
  readonly target: string;
  readonly status: number;
  readonly code: RequestRecord['code'];
  readonly startedMs: number;
  readonly upstreamMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** For the log. */
  readonly cause?: unknown;
}

/** Counts a finished exchange for whom it operated on, tells the observer, and logs what failed. */
export function reportFinished(
  { route, tools }: Relay,
  { admission, caller, keyId, trace }: Judgement,
  end: End,
): void {
  const { requestId, method, target, status, code, bytesIn, bytesOut } = end;
  const kind = methodKind(method);
  if (admission !== null && kind !== undefined) {
    tools.usage.record({
      accountId: admission.permit.resolvedTenant,
      keyId: admission.caller.keyId,
      kind,
      status,
      bytesIn,
      bytesOut,
    });
  }
  if (end.cause !== undefined) tools.failures.write(end.cause, { route: route.prefix, requestId, code });
  const path = pathOf(target);
  trace?.end({
    requestId,
    path,
    status,
    code,
    callerKnown: caller !== null,
    upstreamAnswered: end.upstreamMs !== null,
  });
  tools.onFinished({
    requestId,
    method,
    path,
    route: route.prefix,
    status,
    code,
    reason: admission?.permit.reason ?? null,
    keyId,
    resolvedTenant: admission?.permit.resolvedTenant ?? null,
    durationMs: tools.clock.monotonicMs() - end.startedMs,
    upstreamMs: end.upstreamMs,
    bytesIn,
    bytesOut,
  });
}

function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
