import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { AccountId } from '../domain/ids.ts';
import type { RequestFault } from '../http1/request-head.ts';
import type { HttpVersion } from '../http1/version.ts';

/** A request on a client's connection. */
export interface ClientRequest {
  readonly method: string;
  /** Target as the client wrote it. */
  readonly url: string;
  /** `null` for a version other than 1.0 and 1.1; such a request has a {@link fault}. */
  readonly version: HttpVersion | null;
  /** Flat list of names and values, as the client wrote them. */
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  /** Number of bytes of the body; `undefined` for a chunked body (RFC 9112 §6.3). */
  readonly bodyLength: number | undefined;
  /** Value of `Upgrade` if the client offers another protocol; otherwise `null`. */
  readonly upgrade: string | null;
  /** Reason to reject the request, found while reading its head; `null` if there is none. */
  readonly fault: RequestFault | null;
  /** Whether the body has arrived in full. */
  readonly complete: boolean;
  /** Set by the code that serves the request, if it holds bytes itself. */
  holder: BytesHolder | null;
  /** Returns the values of a header, joined by commas (RFC 9110 §5.3); `undefined` if it is absent. */
  header(lowerName: string): string | undefined;
  /** Starts reading the body. Sends `100 Continue` if the client waits for it. */
  readBody(reader: BodyReader): void;
  /** Stops reading until {@link resumeBody}. */
  pauseBody(): void;
  resumeBody(): void;
  /** Stops reading. What follows is discarded, once the response has ended. */
  endBody(): void;
  /**
   * Gives the connection away, to another protocol. Neither the request nor its response can be used afterwards.
   *
   * @returns the connection, and the bytes that arrived behind the head
   */
  takeConnection(): { readonly socket: Socket; readonly head: Buffer };
  /** Counts anew what is held in memory for the client. Call this when it may have become much more, or less. */
  countHeld(): void;
  /**
   * Has the request served by a handler in the form of `node:http`. Neither the request nor its response can be used
   * afterwards.
   */
  serveByNode(handler: RequestListener): void;
}

/** Parent, with its sub-accounts, or the operators, for whose requests bytes are held in memory. */
export type HoldsFor = AccountId | 'operators';

/** Serves a request, and holds bytes for it beside what its connection holds. */
export interface BytesHolder {
  /** Who has sent the request; `null` while unknown, and for strangers. */
  readonly holdsFor: HoldsFor | null;
  /** Number of bytes of the request's body, or of its response, that are held. */
  readonly heldBytes: number;
  /** Called right before the connection is cut, because too much is held. */
  dropped(): void;
}

/** Reads a request's body. If a method throws, the connection ends. */
export interface BodyReader {
  /** Takes a piece of the body, whose bytes the reader may keep. */
  onBytes(chunk: Buffer): void;
  /** Called at the end of the body. */
  onBodyEnd(): void;
  /** Whether the reader needs none of the bytes any longer that it has taken so far. */
  readonly hasPassedOn: boolean;
}

/** The response to a {@link ClientRequest}. */
export interface ClientResponse {
  readonly request: ClientRequest;
  /** Status of the response; 0 before it begins. */
  readonly status: number;
  /** Whether the connection ends after this response. May be set until the response begins. */
  last: boolean;
  /** Whether the head has been written. */
  readonly isBegun: boolean;
  /** Whether the end has been written. */
  readonly isEnded: boolean;
  /** Number of bytes that wait for the client. */
  readonly unsentBytes: number;
  /** Called once the response is over; `isWhole` says whether the operating system has taken all of it. */
  onClose: ((isWhole: boolean) => void) | null;
  /** Called whenever the client has taken all bytes. */
  onDrain: (() => void) | null;
  /**
   * Writes Early Hints (RFC 8297), unless the client uses HTTP/1.0.
   *
   * @param headers flat list of names and values
   */
  writeEarlyHints(headers: readonly string[]): void;
  /**
   * Writes a whole response.
   *
   * @param headers flat list of names and values, without `Content-Length`, `Transfer-Encoding` and `Connection`
   * @param length number of bytes to state as the length; `undefined` for none
   * @param body Latin-1, or bytes, which may change once this call has returned
   */
  send(
    status: number,
    reason: string,
    headers: readonly string[],
    length: number | undefined,
    body: string | Buffer,
  ): void;
  /**
   * Writes the head of a response. The parameters are as for {@link send}. A response without a length is sent in
   * chunks, or to a client of HTTP/1.0 until the connection ends.
   */
  begin(status: number, reason: string, headers: readonly string[], length: number | undefined): void;
  /**
   * Writes a piece of the body. Returns whether the operating system has taken all bytes. If not, `chunk` must stay
   * unchanged until {@link onDrain}, unless it is lent.
   *
   * @param isLent whether the bytes may change once this call has returned, so that they are copied
   */
  write(chunk: Buffer, isLent: boolean): boolean;
  /** Ends the response. @param trailers flat list of names and values, dropped unless the response is in chunks */
  end(trailers?: readonly string[]): void;
  /**
   * Cuts the response short, so that the client notices.
   *
   * @param resets whether the operating system drops the bytes that it holds for the client
   */
  cut(resets?: boolean): void;
}
