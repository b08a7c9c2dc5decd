/** Error for a request that waited for a connection to become free until its time was over. */
export class WaitedInVain extends Error {
  /** Whether the tenant or its parent had its whole share of the connections. Otherwise the others had all of them. */
  readonly isShareFull: boolean;

  constructor(isShareFull: boolean) {
    super('no connection became free in time');
    this.name = 'WaitedInVain';
    this.isShareFull = isShareFull;
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
