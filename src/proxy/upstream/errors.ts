/**
 * Error for a response that breaks HTTP/1.1, or that two readers could understand differently. The details are for the
 * log; the client gets 502 without them.
 */
export class ResponseFault extends Error {
  /** @param what fault that completes "the upstream's response has …", without any bytes of the response */
  constructor(what: string) {
    super(`the upstream's response has ${what}`);
    this.name = 'ResponseFault';
  }
}

/**
 * Error for an upstream that took longer than its route allows. The details are for the log; the client gets 504
 * without them.
 */
export class UpstreamTimeout extends Error {
  /** @param what step that was late, completing "the upstream did not … in time" */
  constructor(what: string) {
    super(`the upstream did not ${what} in time`);
    this.name = 'UpstreamTimeout';
  }
}
