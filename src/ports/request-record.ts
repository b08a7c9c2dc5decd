import type { Permit } from '../domain/acting-decision.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';

/** Status in logs for a client that left before there was a response; nginx uses the same number. */
export const clientGone = 499;

/** A finished request as it is logged and counted: proxied, or responded to by the gateway itself. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** As the client sent it, without the query: a query may hold a secret. */
  readonly path: string;
  /** Which of the gateway's routes took it: a prefix or a template, never something a client wrote. */
  readonly route: string;
  /** Of the response, or {@link clientGone}. */
  readonly status: number;
  /** The problem code of a response of the gateway itself, or how an exchange ended early; `null` for a complete response. */
  readonly code: ProblemCode | 'client_gone' | 'cut_by_upstream' | 'withdrawn' | null;
  /** Which limit was reached, where that is why it was rejected. */
  readonly limit?: ReachedLimit | undefined;
  /** Of the key that was sent, if it is one of this service's; also where it is revoked or expired. */
  readonly keyId: string | null;
  /** The account that called: the key's. `null` where that is not known. */
  readonly caller: string | null;
  /** The operator that called, by the name of the token; for calls of the operator API alone. */
  readonly operator?: string | undefined;
  readonly resolvedTenant: string | null;
  /** Why it was permitted to act as that tenant; `null` for what was not proxied. */
  readonly reason: Permit['reason'] | null;
  /** Milliseconds from the head of the request to the end of the response. */
  readonly durationMs: number;
  /** Of that, the wait for the upstream's headers; `null` where they never came. */
  readonly upstreamMs: number | null;
  /** Bytes of the request's body; `null` where they are not counted, for responses of the gateway itself. */
  readonly bytesIn: number | null;
  /** Bytes of the response's body; `null` as for {@link bytesIn}. */
  readonly bytesOut: number | null;
  /** The request as it came, for what only a log reads of it. */
  readonly head: ReceivedHead;
}

/** What a client sent, and from where. Node's requests have these members. */
export interface ReceivedHead {
  /** Names and values alternating, as Node gives them. They hold secrets. */
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Takes the record of a finished request. Called for every request, so it must neither throw nor wait. */
export type RequestObserver = (record: RequestRecord) => void;
