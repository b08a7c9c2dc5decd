import type { Permit } from '../domain/acting-decision.ts';
import type { ProblemCode, ReachedLimit } from '../domain/problem.ts';

/** Status that is logged if the client left before there was a response; nginx uses the same number. */
export const clientGone = 499;

/** A finished request for logs and metrics, whether proxied or answered by the gateway itself. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** Path as the client sent it, without the query, which may hold a secret. */
  readonly path: string;
  /** The request's route: a prefix or template, never text from a client. */
  readonly route: string;
  /** Status of the response, or {@link clientGone}. */
  readonly status: number;
  /** Problem code of the gateway's own response, or why an exchange ended early; `null` for a complete response. */
  readonly code: ProblemCode | 'client_gone' | 'cut_by_upstream' | 'withdrawn' | null;
  /** The limit that the request hit; set only if the request was rejected because of it. */
  readonly limit?: ReachedLimit | undefined;
  /** Id of the key that was sent, even if the key is revoked or expired; `null` if no existing key was sent. */
  readonly keyId: string | null;
  /** The key's account; `null` if unknown. */
  readonly caller: string | null;
  /** Parent of that account; `null` or absent if it is a parent itself or unknown. */
  readonly parent?: string | null;
  /** Token name of the operator who made the request; only for the operator API. */
  readonly operator?: string | undefined;
  readonly resolvedTenant: string | null;
  /** Reason for the permit; `null` if the request was not proxied. */
  readonly reason: Permit['reason'] | null;
  /** Milliseconds from the head of the request to the end of the response. */
  readonly durationMs: number;
  /** The part of `durationMs` that was spent waiting for the upstream's headers; `null` if they never arrived. */
  readonly upstreamMs: number | null;
  /**
   * Bytes in the request's body. `null` if the request was not proxied: a management or operator call, or a request
   * that the ingress rejected. The bytes of such requests are not counted.
   */
  readonly bytesIn: number | null;
  /** Bytes in the response's body; `null` in the same cases as {@link bytesIn}. */
  readonly bytesOut: number | null;
  /** The request's head, from which logs read additional fields. */
  readonly head: ReceivedHead;
}

/** A request's headers and connection. Node's own requests have these members. */
export interface ReceivedHead {
  /** Names and values alternating, as Node gives them. Some values are secrets. */
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Key and accounts that a request is by. Those that are not known yet are `null`. */
export type RequestParties = Pick<RequestRecord, 'keyId' | 'caller' | 'parent' | 'resolvedTenant'>;

/** Receives the record of every finished request. Must neither throw nor block. */
export type RequestObserver = (record: RequestRecord) => void;
