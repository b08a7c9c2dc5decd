/** Error for an upstream that took longer than its route allows. The message is only logged; the client gets a 504. */
export class UpstreamTimeout extends Error {
  /** @param what the step that was late, completing "the upstream did not … in time" */
  constructor(what: string) {
    super(`the upstream did not ${what} in time`);
    this.name = 'UpstreamTimeout';
  }
}
