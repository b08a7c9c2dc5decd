import type { Permit } from '../domain/acting-decision.ts';
import type { AccountId, KeyId } from '../domain/ids.ts';
import type { ProblemCode } from '../domain/problem.ts';

/** A request that has been answered, or given up, as it is logged and counted. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** As it was called, without its query: a query may hold a secret. */
  readonly path: string;
  /** Which of the gateway's routes took it: a prefix or a template, never something a client wrote. */
  readonly route: string;
  readonly status: number;
  /** The refusal where the gateway answered by itself, or how an exchange ended early. */
  readonly code: string | null;
  readonly keyId: string | null;
  readonly resolvedTenant: string | null;
  /** Why it acted as that tenant, as the permit says. */
  readonly reason: string | null;
  /** From the first byte to the last. */
  readonly durationMs: number;
  /** Of that, the wait for the upstream's headers; `null` where they never came. */
  readonly upstreamMs: number | null;
}

/** Takes a finished request; called on the hot path, so it must not throw and not wait. */
export type RequestObserver = (record: RequestRecord) => void;

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
