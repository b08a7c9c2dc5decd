/** Bytes of one read, at most. */
export const readBytes = 64 * 1024;

/** A piece of this size or more is not copied: the socket reads into a buffer of its own. */
const largeBytes = readBytes / 2;

/**
 * What one socket reads into. The bytes of a read are dealt with before the next read begins, so all sockets share one
 * buffer, and what outlives the read is copied. While a body comes in large pieces, its socket reads into buffers of its
 * own instead, which are handed on without a copy.
 */
export class ReadBuffer {
  readonly #shared: Buffer;
  #current: Buffer;
  #given = false;

  /** @param shared of {@link readBytes} */
  constructor(shared: Buffer) {
    this.#shared = shared;
    this.#current = shared;
  }

  /** What the latest read went into. */
  get bytes(): Buffer {
    return this.#current;
  }

  /** Makes a part of the latest read the caller's to keep. A small part never keeps a large buffer from being freed. */
  keep(from: number, to: number): Buffer {
    const part = this.#current.subarray(from, to);
    if (this.#current === this.#shared || part.length < largeBytes) return Buffer.from(part);
    this.#given = true;
    return part;
  }

  /**
   * The buffer for the next read.
   *
   * @param length of the latest read
   * @param more the response it belonged to goes on
   */
  next(length: number, more: boolean): Buffer {
    if (!more || length < largeBytes) this.#current = this.#shared;
    else if (this.#given || this.#current === this.#shared) {
      this.#current = Buffer.allocUnsafeSlow(readBytes);
    }
    this.#given = false;
    return this.#current;
  }
}

/** The bytes as text, one character each: what `toString('latin1')` calls in the end, without its checks. */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  return (bytes as Latin1Bytes).latin1Slice(from, to);
}

/** Node has it on every Buffer; the declarations leave it out. */
interface Latin1Bytes extends Uint8Array {
  latin1Slice(start: number, end: number): string;
}
