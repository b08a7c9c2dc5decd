import type { Socket } from 'node:net';

/** Number of bytes for a head of the usual size and the longest body that is sent together with it. */
const usualBytes = 32 * 1024;

/**
 * Buffer in which a response's head and body are joined, for a single write. All connections of a listener share it,
 * because the operating system usually takes all of a response at once.
 */
export class SendBuffer {
  #bytes = Buffer.allocUnsafeSlow(usualBytes);

  /** Writes a response. @param head Latin-1 */
  send(socket: Socket, head: string, body: Buffer): void {
    const length = head.length + body.length;
    // TLS encrypts after the call, so it would never leave the buffer to the next response.
    const isShared = length <= usualBytes && !('encrypted' in socket);
    const bytes = isShared ? this.#bytes : Buffer.allocUnsafe(length);
    bytes.write(head, 0, 'latin1');
    body.copy(bytes, head.length);
    socket.write(bytes.subarray(0, length));
    // The socket still needs the bytes, so later responses go into another buffer.
    if (isShared && socket.writableLength > 0) this.#bytes = Buffer.allocUnsafeSlow(usualBytes);
  }
}
