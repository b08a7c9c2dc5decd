/**
 * An upstream's response breaks HTTP/1.1, or two readers could understand it differently. For the log: the client gets
 * 502 without the details.
 */
export class ResponseFault extends Error {
  /** @param what was found, without any bytes of the response itself */
  constructor(what: string) {
    super(`the upstream's response has ${what}`);
    this.name = 'ResponseFault';
  }
}

/** An upstream took longer than its route allows. For the log: the client gets 504 without the details. */
export class UpstreamTimeout extends Error {
  /** @param what it did not do in time */
  constructor(what: string) {
    super(`the upstream did not ${what} in time`);
    this.name = 'UpstreamTimeout';
  }
}
