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
