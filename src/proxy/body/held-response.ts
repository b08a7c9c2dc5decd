import type { AnsweredHead } from '../upstream/upstream-client.ts';

/** Head of a response as the client gets it. */
export interface PassedHead extends Pick<AnsweredHead, 'status' | 'reason'> {
  /** Flat list of names and values. */
  readonly headers: string[];
  /** Number of bytes of the body; `undefined` if the upstream does not state it. */
  readonly contentLength: number | undefined;
}

/** A response that the client does not get yet: its head, and the parts that have followed it. */
export class HeldResponse {
  readonly head: PassedHead;
  readonly body: Buffer[] = [];
  /** Number of bytes in {@link body}. */
  bytes = 0;
  /** Trailers, as a flat list of names and values, once the response has ended; `null` until then. */
  trailers: readonly string[] | null = null;

  constructor(head: PassedHead) {
    this.head = head;
  }
}
