/** An upstream's answer cannot be read, or not in one way only. For the log; clients are told that it failed. */
export class ResponseFault extends Error {
  /** @param what was found, without anything of the answer itself */
  constructor(what: string) {
    super(`the upstream's answer has ${what}`);
    this.name = 'ResponseFault';
  }
}

/** An upstream took longer than its route allows. For the log; clients are told that it was too slow. */
export class UpstreamTimeout extends Error {
  /** @param what it did not do in time */
  constructor(what: string) {
    super(`the upstream did not ${what} in time`);
    this.name = 'UpstreamTimeout';
  }
}
