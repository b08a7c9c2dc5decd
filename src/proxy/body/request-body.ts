import type { BodyReader, ClientRequest } from '../../http/client-request.ts';
import { guardMethods, type Breakable } from '../../http/guarded.ts';
import type { BodySink, BodySource } from '../upstream/message-head.ts';

/** Maximum size in bytes of a body of known length that is read whole before the request is sent to the upstream. */
export const mostBufferedBytes = 16 * 1024;
/** Milliseconds for which a chunked body is held while the upstream's HTTP version is unknown. */
export const mostHeldMs = 1_000;

/** Maximum number of bytes of one chunked body to hold for an upstream that might not accept chunks. */
const mostHeldBytes = 256 * 1024;
const leastCapacity = 1024;

/** Exchange that a body belongs to. It ends if a callback of the body throws. */
export interface BodyOwner extends Breakable {
  /** Called before each piece is passed on. If it returns `false`, it has ended the exchange. */
  mayPass(): boolean;
  /** Called once a body that is held has arrived in full. */
  onBuffered(content: Buffer): void;
  /** Called if the body cannot be held, because it is longer than {@link mostHeldBytes}. */
  onNotHeld(): void;
}

/**
 * A request's body, which is streamed to the upstream as fast as the upstream takes it, or held first.
 *
 * A short body is read whole and then sent together with the head. So a client that sends its body slowly does not tie up
 * an upstream connection. A chunked body for an HTTP/1.0 upstream is also read whole, because HTTP/1.0 has no chunks and
 * the head must state the length. While the upstream's version is unknown, a chunked body is held for at most
 * {@link mostHeldMs}.
 */
export class RequestBody implements BodySource, BodyReader, Breakable {
  /** Number of bytes received so far. */
  bytes = 0;
  /** Whether the gateway is waiting for the client to send more. */
  starving = false;
  readonly length: number | undefined;
  /** The complete body, if it was held; otherwise `null`. */
  content: Buffer | null = null;
  readonly #request: ClientRequest;
  readonly #exchange: BodyOwner;
  /**
   * Buffer that begins with the bytes held so far. Once a second piece has arrived, the buffer may end with unused
   * bytes.
   */
  #begun: Buffer | null = null;
  #sink: BodySink | null = null;

  /** @param length bytes; `undefined` for a chunked body */
  constructor(request: ClientRequest, length: number | undefined, exchange: BodyOwner) {
    this.#request = request;
    this.length = length;
    this.#exchange = exchange;
  }

  /** Starts reading the body into memory. */
  hold(): void {
    this.starving = true;
    this.#request.readBody(this);
  }

  /** Stops reading until {@link start} or {@link resume}. */
  pause(): void {
    this.starving = false;
    this.#request.pauseBody();
  }

  start(sink: BodySink): void {
    this.#sink = sink;
    if (this.#begun !== null) sink.write(this.#begun.subarray(0, this.bytes));
    this.#begun = null;
    this.hold();
  }

  resume(): void {
    this.starving = true;
    this.#request.resumeBody();
  }

  /** Number of bytes held in memory. */
  get heldBytes(): number {
    return this.#begun?.length ?? 0;
  }

  /** Stops reading. */
  destroy(): void {
    this.#begun = null;
    this.#sink = null;
    this.starving = false;
    this.#request.endBody();
  }

  onBytes(chunk: Buffer): void {
    if (this.#sink === null) return this.#append(chunk);
    this.bytes += chunk.length;
    if (this.#exchange.mayPass() && this.#sink?.write(chunk) !== true) this.pause();
  }

  /**
   * Copies all pieces into one buffer. If the pieces were kept separately, a body that arrives byte by byte would take
   * a hundred times its size in memory.
   */
  #append(chunk: Buffer): void {
    const bytes = this.bytes + chunk.length;
    if (this.#begun === null) this.#begun = chunk;
    else {
      if (bytes > this.#begun.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(leastCapacity, 2 * bytes));
        this.#begun.copy(larger, 0, 0, this.bytes);
        this.#begun = larger;
      }
      chunk.copy(this.#begun, this.bytes);
    }
    this.bytes = bytes;
    if (bytes > mostHeldBytes) this.#exchange.onNotHeld();
  }

  /** Bytes that are held wait for the rest of the body. */
  get hasPassedOn(): boolean {
    return this.#sink?.hasSentAll === true;
  }

  onBodyEnd(): void {
    this.starving = false;
    if (this.#sink !== null) return this.#sink.end();
    this.content = this.#begun === null ? Buffer.alloc(0) : this.#begun.subarray(0, this.bytes);
    this.#exchange.onBuffered(this.content);
  }

  broke(error: unknown): void {
    this.#exchange.broke(error);
  }
}

guardMethods(RequestBody, undefined, 'onBytes', 'onBodyEnd');
