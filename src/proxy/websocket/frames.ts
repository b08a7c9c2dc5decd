/** Returns a frame's opcode, given its first byte (RFC 6455 §5.2). Opcodes from 8 up belong to control frames. */
const opcodeOf = (first: number): number => first & 0x0f;
const closeOpcode = 0x8;
const firstControlOpcode = 0x8;

/** Number of bytes in a frame header's extended length, indexed by the 7-bit length in the second byte. */
const extendedLength: Readonly<Record<number, number>> = { 126: 2, 127: 8 };

/**
 * Tracks WebSocket frames (RFC 6455 §5.2) in a byte stream by their lengths, without storing or changing them. It knows
 * where each frame ends, so that the gateway can send a close frame between two of the upstream's frames.
 */
export class FrameTracker {
  /** Number of message payload bytes so far, without frame headers and control frames. */
  messageBytes = 0;
  /** Whether a close frame has begun. No other frame may follow it. */
  closing = false;
  #header: number[] = [];
  #headerLength = 2;
  #left = 0;
  #counts = false;

  /** Whether no frame is in progress: the last byte ended a frame, or no byte has arrived yet. */
  get betweenFrames(): boolean {
    return this.#left === 0 && this.#header.length === 0;
  }

  feed(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        if (this.#counts) this.messageBytes += taken;
        at += taken;
      } else {
        this.#headerByte(chunk[at] as number);
        at += 1;
      }
    }
  }

  #headerByte(byte: number): void {
    const header = this.#header;
    header.push(byte);
    if (header.length === 2) {
      const masked = (byte & 0x80) !== 0;
      this.#headerLength = 2 + (extendedLength[byte & 0x7f] ?? 0) + (masked ? 4 : 0);
    }
    if (header.length < this.#headerLength || header.length < 2) return;
    const opcode = opcodeOf(header[0] as number);
    this.#counts = opcode < firstControlOpcode;
    if (opcode === closeOpcode) this.closing = true;
    this.#left = lengthIn(header);
    this.#header = [];
    this.#headerLength = 2;
  }
}

function lengthIn(header: readonly number[]): number {
  const short = (header[1] as number) & 0x7f;
  const bytes = extendedLength[short];
  if (bytes === undefined) return short;
  // Lengths beyond 2^53 are not exact here, but a frame that long would take years to send.
  return header.slice(2, 2 + bytes).reduce((length, byte) => length * 256 + byte, 0);
}

/** Returns a close frame as a server sends it, unmasked. @param reason at most 123 bytes, to fit a control frame */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const head = [0x80 | closeOpcode, 2 + text.length, code >> 8, code & 0xff];
  return Buffer.concat([Buffer.from(head), text]);
}
