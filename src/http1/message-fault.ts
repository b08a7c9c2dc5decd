/**
 * Error for a message that violates HTTP/1.1 (RFC 9112), or that two parsers could understand differently. The
 * connection that it arrived on cannot be used again.
 */
export class MessageFault extends Error {
  /** @param what the fault, completing "the message has …", without any bytes of the message */
  constructor(what: string) {
    super(`the message has ${what}`);
    this.name = 'MessageFault';
  }
}
