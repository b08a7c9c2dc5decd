/** An upstream took longer than its route allows. For the log; clients are told that it was too slow. */
export class UpstreamTimeout extends Error {
  /** @param what it did not do in time */
  constructor(what: string) {
    super(`the upstream did not ${what} in time`);
    this.name = 'UpstreamTimeout';
  }
}
