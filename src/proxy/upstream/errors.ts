/**
 * Response of an upstream that breaks HTTP/1.1, or that two readers could understand differently. For the log: the
 * client gets 502 without the details.
 */
export class ResponseFault extends Error {
  /** @param what description of the fault, without any bytes of the response */
  constructor(what: string) {
    super(`the upstream's response has ${what}`);
    this.name = 'ResponseFault';
  }
}

/** An upstream took longer than its route allows. For the log: the client gets 504 without the details. */
export class UpstreamTimeout extends Error {
  /** @param what step that it did not make in time */
  constructor(what: string) {
    super(`the upstream did not ${what} in time`);
    this.name = 'UpstreamTimeout';
  }
}
