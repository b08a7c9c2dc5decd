/** Returns a frame's opcode, given its first byte (RFC 6455 §5.2). Opcodes from 8 up belong to control frames. */
const opcodeOf = (first: number): number => first & 0x0f;
const closeOpcode = 0x8;
const firstControlOpcode = 0x8;

/**
 * Tracks WebSocket frames (RFC 6455 §5.2) in a byte stream by their lengths, without storing or changing them. It knows
 * where each frame ends, so that the gateway can send a close frame between two of the upstream's frames.
 */
export class FrameTracker {
  /** Number of frames so far. */
  frames = 0;
  /** Number of message payload bytes so far, without frame headers and control frames. */
  messageBytes = 0;
  /** Whether a close frame has begun. No other frame may follow it. */
  closing = false;
  #opcode = 0;
  /** Number of bytes of the current header so far. */
  #header = 0;
  /** Number of bytes in the current header up to the mask, and in all. */
  #lengthEnd = 2;
  #headerEnd = 2;
  /** Number of payload bytes to come. Beyond 2^53 it is not exact, but such a frame would take years to send. */
  #left = 0;

  /** Whether no frame is in progress: the last byte ended a frame, or no byte has arrived yet. */
  get betweenFrames(): boolean {
    return this.#left === 0 && this.#header === 0;
  }

  feed(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0 && this.#header === 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        if (this.#opcode < firstControlOpcode) this.messageBytes += taken;
        at += taken;
      } else {
        this.#headerByte(chunk[at] as number);
        at += 1;
      }
    }
  }

  #headerByte(byte: number): void {
    this.#header += 1;
    if (this.#header === 1) {
      this.#opcode = opcodeOf(byte);
      return;
    }
    if (this.#header === 2) {
      const short = byte & 0x7f;
      this.#lengthEnd = short === 126 ? 4 : short === 127 ? 10 : 2;
      this.#headerEnd = this.#lengthEnd + (byte >= 0x80 ? 4 : 0);
      this.#left = this.#lengthEnd === 2 ? short : 0;
    } else if (this.#header <= this.#lengthEnd) this.#left = this.#left * 256 + byte;
    if (this.#header < this.#headerEnd) return;
    this.#header = 0;
    this.frames += 1;
    if (this.#opcode === closeOpcode) this.closing = true;
  }
}

/** Returns a close frame as a server sends it, unmasked. @param reason at most 123 bytes, to fit a control frame */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const head = [0x80 | closeOpcode, 2 + text.length, code >> 8, code & 0xff];
  return Buffer.concat([Buffer.from(head), text]);
}
