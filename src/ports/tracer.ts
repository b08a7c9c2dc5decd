import type { RequestRecord } from './request-record.ts';

/** Traces requests. Its methods neither throw nor wait. */
export interface Tracer {
  /**
   * Starts a request's trace, or continues the client's.
   *
   * @param route prefix or template, never text from a client
   * @param agoMs milliseconds since the request arrived
   */
  begin(request: TracedRequest, route: string, agoMs?: number): RequestTrace;
}

/** A received request. */
export interface TracedRequest {
  readonly method?: string | undefined;
  /** Flat list of names and values. */
  readonly rawHeaders: readonly string[];
  readonly socket: object;
}

/** The trace of one request. Each method records its step only on its first call. */
export interface RequestTrace {
  /** Authentication begins. */
  deciding(): void;
  /** The caller is known, or the key is rejected. */
  authenticated(): void;
  /** The request has been decided on. */
  decided(): void;
  /** The request is about to go to `upstream`. Adds trace headers to `headers`, a flat list of names and values. */
  forward(headers: string[], upstream: TracedUpstream): void;
  end(end: TraceEnd): void;
}

/** Address of an upstream. */
export interface TracedUpstream {
  readonly origin: URL;
  readonly socketPath: string | null;
}

/** End of a request. `caller` is set if it is known, `upstreamMs` if the upstream's headers arrived. */
export type TraceEnd = Pick<
  RequestRecord,
  'requestId' | 'path' | 'status' | 'code' | 'caller' | 'upstreamMs'
>;
