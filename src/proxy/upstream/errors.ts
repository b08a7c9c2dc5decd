/**
 * Error for a response that violates HTTP/1.1, or that two parsers could understand differently. The message is only
 * logged; the client gets a 502.
 */
export class ResponseFault extends Error {
  /** @param what the fault, completing "the upstream's response has …", without any bytes of the response */
  constructor(what: string) {
    super(`the upstream's response has ${what}`);
    this.name = 'ResponseFault';
  }
}

/** Error for an upstream that took longer than its route allows. The message is only logged; the client gets a 504. */
export class UpstreamTimeout extends Error {
  /** @param what the step that was late, completing "the upstream did not … in time" */
  constructor(what: string) {
    super(`the upstream did not ${what} in time`);
    this.name = 'UpstreamTimeout';
  }
}
