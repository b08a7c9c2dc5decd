import type { BodyReader, ClientRequest } from '../../http/client-request.ts';
import { guardMethods, type Breakable } from '../../http/guarded.ts';
import type { BodyProgress } from './streamed-body.ts';

/** Maximum size in bytes of a body of known length that is read whole before the request is sent to the upstream. */
export const mostBufferedBytes = 16 * 1024;
/** Milliseconds for which a chunked body is held while the upstream's HTTP version is unknown. */
export const mostHeldMs = 1_000;

/** Maximum number of bytes of one chunked body to hold for an upstream that might not accept chunks. */
const mostHeldBytes = 256 * 1024;
const leastCapacity = 1024;

/** Handles the events of a body. */
export interface BodyHandler extends Breakable {
  onBuffered(content: Buffer): void;
  /** Called if the body cannot be held, because it is longer than {@link mostHeldBytes}. */
  onNotHeld(body: BufferedBody): void;
}

/**
 * A short body that is read whole and then sent together with the head. So a client that sends its body slowly does not
 * tie up an upstream connection. A chunked body for an HTTP/1.0 upstream is also read whole, because HTTP/1.0 has no
 * chunks and the head must state the length. While the upstream's version is unknown, a chunked body is held for at
 * most {@link mostHeldMs}.
 */
export class BufferedBody implements BodyProgress, BodyReader, Breakable {
  bytes = 0;
  starving = true;
  /** The complete body; `null` until all of it has arrived. */
  content: Buffer | null = null;
  readonly #request: ClientRequest;
  readonly #handler: BodyHandler;
  /**
   * Buffer that begins with the bytes received so far. Once a second piece has arrived, the buffer may end with unused
   * bytes.
   */
  #begun: Buffer | null = null;

  constructor(request: ClientRequest, handler: BodyHandler) {
    this.#request = request;
    this.#handler = handler;
  }

  /** Starts reading. */
  start(): void {
    this.#request.readBody(this);
  }

  destroy(): void {
    this.#request.endBody();
  }

  get heldBytes(): number {
    return this.#begun?.length ?? 0;
  }

  /** Stops reading, and hands over the bytes received so far. */
  handOver(): Buffer {
    this.#request.pauseBody();
    return this.#begun === null ? Buffer.alloc(0) : this.#begun.subarray(0, this.bytes);
  }

  onBytes(chunk: Buffer): void {
    this.#append(chunk);
    if (this.bytes > mostHeldBytes) this.#handler.onNotHeld(this);
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
  }

  /** The bytes wait for the rest of the body. */
  get hasPassedOn(): boolean {
    return false;
  }

  onBodyEnd(): void {
    this.starving = false;
    this.content = this.#begun === null ? Buffer.alloc(0) : this.#begun.subarray(0, this.bytes);
    this.#handler.onBuffered(this.content);
  }

  broke(error: unknown): void {
    this.#handler.broke(error);
  }
}

guardMethods(BufferedBody, undefined, 'onBytes', 'onBodyEnd');
