import type { Permit } from '../domain/acting-decision.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import { methodKind } from '../domain/method.ts';
import type { ProblemCode } from '../domain/problem.ts';
import type { Judgement } from './judgement.ts';
import type { Relay } from './relay.ts';

/** What is known about an exchange once it is over: for access logs and metrics. */
export interface FinishedExchange {
  readonly requestId: string;
  readonly method: string;
  /** As it was called, without its query: a query may hold a secret. */
  readonly path: string;
  /** Prefix of the route. */
  readonly route: string;
  /** What the client was answered; 499 where it left before there was an answer. */
  readonly status: number;
  /** Of the gateway's own answers, and of those that had to be cut; `null` for what an upstream answered whole. */
  readonly code: ProblemCode | 'client_gone' | 'cut_by_upstream' | 'withdrawn' | null;
  /** Why the request was let through, where it was. */
  readonly reason: Permit['reason'] | null;
  readonly keyId: KeyId | null;
  readonly resolvedTenant: AccountId | null;
  /** Milliseconds from the request's head to the end. */
  readonly durationMs: number;
  /** Of that, the wait for the upstream's headers; `null` where they never came. */
  readonly upstreamMs: number | null;
  /** Of bodies. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Hears of every finished exchange; must not throw, and should be quick. */
export type OnFinished = (exchange: FinishedExchange) => void;

/** By convention of nginx: the client left before it was answered. */
export const clientGone = 499;

/** What only the exchange itself knows about its end. */
export interface End {
  readonly requestId: string;
  readonly method: string;
  /** As the client sent it. */
  readonly target: string;
  readonly status: number;
  readonly code: FinishedExchange['code'];
  readonly startedMs: number;
  readonly upstreamMs: number | null;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** For the log. */
  readonly cause?: unknown;
}

/** Counts a finished exchange for whom it operated on, tells the observer, and logs what failed. */
export function reportFinished({ route, tools }: Relay, { admission, caller }: Judgement, end: End): void {
  const { requestId, method, target, status, code, bytesIn, bytesOut } = end;
  const kind = methodKind(method);
  if (admission !== null && kind !== undefined) {
    const keyId = admission.caller.keyId;
    tools.usage.record({
      accountId: admission.permit.resolvedTenant,
      keyId,
      kind,
      status,
      bytesIn,
      bytesOut,
    });
  }
  if (end.cause !== undefined) {
    tools.log.warn({ err: end.cause, code, route: route.prefix, reqId: requestId }, 'exchange failed');
  }
  tools.onFinished({
    requestId,
    method,
    path: pathOf(target),
    route: route.prefix,
    status,
    code,
    reason: admission?.permit.reason ?? null,
    keyId: caller?.keyId ?? null,
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
