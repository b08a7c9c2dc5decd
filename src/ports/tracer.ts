import type { RequestRecord } from './request-record.ts';

/** Traces requests. Its methods neither throw nor wait. */
export interface Tracer {
  /**
   * Begins a request's trace, or goes on with the one the client is in.
   *
   * @param route prefix or template, never something a client wrote
   * @param agoMs how long ago the request came
   */
  begin(request: TracedRequest, route: string, agoMs?: number): RequestTrace;
}

/** A request as it came. */
export interface TracedRequest {
  readonly method?: string | undefined;
  /** Flat list of names and values. */
  readonly rawHeaders: readonly string[];
  readonly socket: object;
}

/** One request's trace. A method that is called twice counts the first time. */
export interface RequestTrace {
  /** The gateway begins to find out who calls. */
  deciding(): void;
  /** It is known who calls, or that the key is not valid. */
  authenticated(): void;
  /** It is decided whether the request may go on. */
  decided(): void;
  /** The request is about to go to `upstream`: says in `headers`, a flat list of names and values, which trace it is in. */
  forward(headers: string[], upstream: TracedUpstream): void;
  end(end: TraceEnd): void;
}

/** Where a request goes. */
export interface TracedUpstream {
  readonly origin: URL;
  readonly socketPath: string | null;
}

/** How a request ended: it is known who called where `caller` is set, and the upstream's headers came where `upstreamMs` is. */
export type TraceEnd = Pick<
  RequestRecord,
  'requestId' | 'path' | 'status' | 'code' | 'caller' | 'upstreamMs'
>;
