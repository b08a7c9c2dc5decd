import type { OnReadOpts } from 'node:net';
import type { Breakable } from '../../http/guarded.ts';

/** Number of bytes in the buffer that all sockets share. */
const sharedBytes = 64 * 1024;
/** Minimum number of bytes in a large read. After a large read, a socket gets a buffer of its own. */
const largeBytes = sharedBytes / 2;
/** Number of bytes in a socket's own buffer. Large reads make a large body cheap. */
const ownBytes = 128 * 1024;
/** The same while {@link mostOwn} are in use, so that slow clients cannot fill memory. */
const smallOwnBytes = 32 * 1024;
const mostOwn = 64;
/** Maximum number of unused buffers to keep. */
const mostSpare = 4;

/** Buffers that all connections to upstreams read into. */
export class ReadBuffers {
  /** Buffer that sockets share. Its bytes are used or copied before the next read begins. */
  readonly shared: Buffer = Buffer.allocUnsafeSlow(sharedBytes);
  readonly #spare: Buffer[] = [];
  #inUse = 0;

  /** Gives a socket a buffer of its own. */
  take(): Buffer {
    this.#inUse += 1;
    if (this.#inUse > mostOwn) return Buffer.allocUnsafeSlow(smallOwnBytes);
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(ownBytes);
  }

  /** Takes a buffer back. @param isRead whether a client's socket may still send from it, so that it cannot be used again */
  giveBack(buffer: Buffer, isRead: boolean): void {
    this.#inUse -= 1;
    if (!isRead && buffer.length === ownBytes && this.#spare.length < mostSpare) this.#spare.push(buffer);
  }
}

/** Reads from a socket. */
export interface BytesReader extends Breakable {
  /** Whether the response goes on behind the latest read. */
  readonly expectsMore: boolean;
  /** Called when `length` bytes have been read into the buffer. */
  read(length: number): void;
}

/**
 * The buffer that one socket reads into: the shared one, or while a body arrives in large pieces, one of its own. Node
 * asks for the buffer of the next read right after the previous read, and only then does the socket let the former one
 * go. So no buffer changes its owner at any other time.
 */
export class ReadBuffer {
  /** Reads the bytes that arrive on the socket; `null` before the connection is open. */
  reader: BytesReader | null = null;
  /** Options for the socket. */
  readonly onread: OnReadOpts = {
    buffer: () => {
      try {
        return this.#next();
      } catch (error) {
        this.reader?.broke(error);
        return this.#buffers.shared;
      }
    },
    callback: (length) => {
      this.#length = length;
      this.reader?.read(length);
      return true;
    },
  };
  readonly #buffers: ReadBuffers;
  #own: Buffer | null = null;
  #length = 0;
  /** Whether the exchange keeps bytes of the latest read. The socket must then not be read. */
  isKept = false;

  constructor(buffers: ReadBuffers) {
    this.#buffers = buffers;
  }

  /** Buffer of the latest read. */
  get bytes(): Buffer {
    return this.#own ?? this.#buffers.shared;
  }

  /** Whether other sockets read into the same buffer. If not, the latest read stays as it is until the next one begins. */
  get isShared(): boolean {
    return this.#own === null;
  }

  /** Number of bytes of the socket's own buffer that the latest read has not filled. */
  get unusedBytes(): number {
    return this.#own === null ? 0 : this.#own.length - this.#length;
  }

  #next(): Buffer {
    const isLarge = this.#length >= largeBytes && this.reader?.expectsMore === true;
    if (isLarge) this.#own ??= this.#buffers.take();
    else this.letGo(this.isKept);
    return this.bytes;
  }

  /** Gives the socket's own buffer back. @param isRead whether a client's socket may still send from it */
  letGo(isRead: boolean): void {
    if (this.#own !== null) this.#buffers.giveBack(this.#own, isRead);
    this.#own = null;
    this.isKept = false;
  }
}
