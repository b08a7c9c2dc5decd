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

/** How a request ended. */
export interface TraceEnd {
  readonly requestId: string;
  /** Without its query: a query may hold a secret. */
  readonly path: string;
  readonly status: number;
  /** The problem code of a response of the gateway itself, or how an exchange ended early. */
  readonly code: string | null;
  /** It is known who called. */
  readonly callerKnown: boolean;
  /** The upstream's headers came. */
  readonly upstreamResponded: boolean;
}
