import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { headerValues } from '../domain/header-names.ts';
import type { BodyReader, ClientRequest, BytesHolder } from '../http/client-request.ts';
import { problemStatus } from '../domain/problem.ts';
import type { RequestFault, RequestHead } from '../http1/request-head.ts';
import type { HttpVersion } from '../http1/version.ts';
import { NodeLane } from './node-lane.ts';
import type { ServingConnection } from './served.ts';
import { ServedResponse } from './served-response.ts';

/** Maximum number of bytes of a body to read before they are wanted, plus one read of the socket. */
const mostBytesAhead = 16 * 1024;
/** Bytes that a piece takes beside its content. */
const pieceBytes = 256;

/** A request on a client's connection. */
export class ServedRequest implements ClientRequest {
  readonly method: string;
  readonly url: string;
  readonly version: HttpVersion | null;
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  readonly bodyLength: number | undefined;
  readonly upgrade: string | null;
  readonly fault: RequestFault | null;
  readonly response: ServedResponse;
  /** Whether bytes of the body are to be read now. */
  wantsBody = false;
  holder: BytesHolder | null = null;
  readonly #connection: ServingConnection;
  #reader: BodyReader | null = null;
  /** Pieces of the body that were read before they were wanted. */
  readonly #ahead: Buffer[] = [];
  #bytesAhead = 0;
  #isDiscarded = false;
  #isServedByNode = false;

  constructor(connection: ServingConnection, head: RequestHead) {
    this.#connection = connection;
    this.method = head.method;
    this.url = head.target;
    this.version = head.version;
    this.rawHeaders = head.headers;
    this.socket = connection.socket;
    this.bodyLength = head.bodyLength;
    this.upgrade = head.upgrade;
    this.fault = head.fault;
    this.response = new ServedResponse(connection, this, head);
  }

  get complete(): boolean {
    return this.#connection.isComplete;
  }

  /** Whether the response is to be sent even if the client has closed its direction of the connection. */
  get isAnsweredAnyway(): boolean {
    return this.#isServedByNode && !this.response.isBegun;
  }

  /** Number of bytes held for the request, without its head. */
  get heldBytes(): number {
    return this.#bytesAhead + (this.holder?.heldBytes ?? 0);
  }

  countHeld(): void {
    this.#connection.countHeld();
  }

  header(lowerName: string): string | undefined {
    const values = headerValues(this.rawHeaders, lowerName);
    return values.length === 0 ? undefined : values.join(', ');
  }

  readBody(reader: BodyReader): void {
    this.#reader = reader;
    this.response.continue();
    this.resumeBody();
  }

  pauseBody(): void {
    this.wantsBody = false;
  }

  resumeBody(): void {
    this.wantsBody = true;
    for (let chunk; this.wantsBody && (chunk = this.#ahead.shift()) !== undefined;) {
      this.#bytesAhead -= chunk.length + pieceBytes;
      this.#give(chunk);
    }
    if (!this.wantsBody) return;
    if (this.complete) this.#end();
    else this.#connection.read();
  }

  endBody(): void {
    if (this.#isDiscarded) return;
    this.#reader = null;
    this.wantsBody = false;
    this.#ahead.length = 0;
    this.#bytesAhead = 0;
  }

  /** Reads the rest of the body, and forgets it. */
  discardBody(): void {
    this.endBody();
    this.#isDiscarded = true;
    this.wantsBody = true;
  }

  /** Whether some of the body may be read before it is wanted, so that a fault in it is noticed early. */
  get mayReadAhead(): boolean {
    return this.#bytesAhead < mostBytesAhead;
  }

  /** Whether none of the bytes of the body that have been read are needed any longer. */
  get hasPassedOn(): boolean {
    return this.#ahead.length === 0 && (this.#reader === null ? this.#isDiscarded : this.#reader.hasPassedOn);
  }

  readonly takeBytes = (bytes: Buffer, from: number, to: number): boolean => {
    const chunk = bytes.subarray(from, to);
    if (this.wantsBody) {
      this.#give(chunk);
      return this.wantsBody || this.mayReadAhead;
    }
    this.#ahead.push(chunk);
    this.#bytesAhead += chunk.length + pieceBytes;
    return this.mayReadAhead;
  };

  bodyEnded(): void {
    if (this.wantsBody) this.#end();
  }

  #give(chunk: Buffer): void {
    if (this.#reader === null) this.#connection.discard(chunk.length);
    else this.#reader.onBytes(chunk);
  }

  #end(): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.onBodyEnd();
  }

  takeConnection(): { readonly socket: Socket; readonly head: Buffer } {
    return { socket: this.socket, head: this.#connection.release() };
  }

  serveByNode(handler: RequestListener): void {
    const { fault } = this;
    this.#isServedByNode = true;
    if (fault === null) return void new NodeLane(this.#connection, this.response, handler);
    const { application } = this.#connection.served;
    const text = application.rawProblem(fault, this.method === 'HEAD', this.url);
    this.response.last = true;
    this.response.writeBytes(Buffer.from(text), problemStatus(fault.code));
    this.response.noteEnded();
  }
}
