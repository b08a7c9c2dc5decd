import type { Permit } from '../domain/acting-decision.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';

/** Status in logs for a client that left before there was a response; nginx uses the same number. */
export const clientGone = 499;

/** A finished request for logs and metrics, proxied or answered by the gateway itself. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** Path as the client sent it, without the query, which may hold a secret. */
  readonly path: string;
  /** Route of the request: a prefix or template, never text from a client. */
  readonly route: string;
  /** Status of the response, or {@link clientGone}. */
  readonly status: number;
  /**
   * Problem code of the gateway's own response, or the reason why an exchange ended early; `null` for a complete
   * response.
   */
  readonly code: ProblemCode | 'client_gone' | 'cut_by_upstream' | 'withdrawn' | null;
  /** Limit that the request reached; set only if the request was rejected for it. */
  readonly limit?: ReachedLimit | undefined;
  /** Id of the key that was sent, if it exists, even if it is revoked or expired. */
  readonly keyId: string | null;
  /** Account of the key; `null` if it is not known. */
  readonly caller: string | null;
  /** Operator that called, by the name of its token; only for the operator API. */
  readonly operator?: string | undefined;
  readonly resolvedTenant: string | null;
  /** Reason of the permit; `null` if the request was not proxied. */
  readonly reason: Permit['reason'] | null;
  /** Milliseconds from the head of the request to the end of the response. */
  readonly durationMs: number;
  /** Milliseconds of `durationMs` that were spent waiting for the upstream's headers; `null` if these never came. */
  readonly upstreamMs: number | null;
  /**
   * Bytes of the request's body; `null` if the request was never proxied (a management or operator call, or one that
   * the ingress rejected), because the bytes of such requests are not counted.
   */
  readonly bytesIn: number | null;
  /** Bytes of the response's body; `null` as for {@link bytesIn}. */
  readonly bytesOut: number | null;
  /** Head of the request, from which logs take further fields. */
  readonly head: ReceivedHead;
}

/** Headers and connection of a request. Node's requests have these members. */
export interface ReceivedHead {
  /** Names and values alternating, as Node gives them. Some values are secrets. */
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Receives the record of every finished request. It must neither throw nor wait. */
export type RequestObserver = (record: RequestRecord) => void;
