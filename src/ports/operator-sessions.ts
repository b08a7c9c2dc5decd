/** Part of an operator's session that the store keeps. It is of no use to a reader of the store, and hides the token. */
export interface StoredSession {
  /** SHA-256 of the session's secret. */
  readonly digest: Uint8Array;
  /** HMAC of the SHA-256 of the operator's token under the session's secret. */
  readonly proof: Uint8Array;
}

/**
 * Sessions of operators who signed in. Every call is read from the store, so a session that has ended on one replica has
 * ended on all. Methods throw `ProblemError` `unavailable` if the store cannot be reached.
 */
export interface OperatorSessionStore {
  /**
   * Stores a session, and deletes the sessions that have expired.
   *
   * @param lifetimeMs milliseconds until the session expires, by the store's clock
   * @returns when it expires
   */
  begin(session: StoredSession, lifetimeMs: number): Promise<Date>;
  /** Returns the proof of a session and when it expires; `null` if there is no such session, or no longer. */
  find(digest: Uint8Array): Promise<{ readonly proof: Uint8Array; readonly expiresAt: Date } | null>;
  /** Ends a session. Does nothing if there is no such session. */
  end(digest: Uint8Array): Promise<void>;
}
