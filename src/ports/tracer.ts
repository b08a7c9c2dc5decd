/** Makes a trace of every request. Nothing here throws, and nothing waits. */
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

/** One request's trace. What happens twice counts the first time. */
export interface RequestTrace {
  /** From here on it is being found out who calls. */
  deciding(): void;
  /** It is settled who calls, or that nobody does. */
  authenticated(): void;
  /** It is settled whether the request may go on. */
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
  /** The refusal where the gateway answered by itself, or how an exchange ended early. */
  readonly code: string | null;
  /** It was found out who calls. */
  readonly callerKnown: boolean;
  /** The upstream's headers came. */
  readonly upstreamAnswered: boolean;
}
