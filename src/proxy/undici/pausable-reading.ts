import type { Socket } from 'node:net';
import { breakConnection, guardedOn } from '../../http/guarded.ts';
import { resetOnceDestroyed } from '../../http/hang-up.ts';
import { unsentBytes } from '../../http/socket-bytes.ts';
import type { HttpVersion } from '../../http1/version.ts';
import { outliveFailedWrite, resetBehindEnd } from '../upstream/failed-write.ts';

/**
 * Pauses reading from the socket of an undici connection.
 *
 * Pausing undici itself would crash the process. If its parser is paused and the upstream closes or resets a connection
 * that is not kept alive, undici 7 throws an assertion error from a socket listener (nodejs/undici#5360; fixed in
 * undici 8, which requires a later Node). So the parser is never paused. Instead, `socket.read` returns `null` while a
 * client is slow. The socket reports the end of the connection only after all bytes have been read, so undici does not
 * see the end too early.
 */
export class PausableReading {
  /**
   * Called when the connection has broken, before undici notices. Without this call, a truncated body of no stated
   * length would pass for a complete one.
   */
  onBroken: ((error: Error) => void) | null = null;
  /** Called before each read of the socket. undici has parsed all earlier bytes by then. */
  onRead: (() => void) | null = null;
  /**
   * HTTP version of the response in progress, which undici does not report. `null` if the first read was too short to
   * show it.
   */
  version: HttpVersion | null = null;
  #toHead = true;
  readonly #socket: Socket;
  #paused = false;
  #writeError: NodeJS.ErrnoException | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    socket.read = (size?: number): unknown => {
      this.onRead?.();
      if (this.#paused) return null;
      const chunk: unknown = read(size);
      try {
        if (this.#toHead && Buffer.isBuffer(chunk)) this.#readVersion(chunk);
      } catch (error) {
        breakConnection(socket, error);
      }
      return chunk;
    };
    socket.on(
      'error',
      guardedOn(socket, (error: Error) => this.onBroken?.(error)),
    );
    outliveFailedWrite(socket, (error) => {
      this.#writeError = error;
    });
    // The operating system reports a reset only once, perhaps to a write. The next read then sees a normal end, so
    // undici would take a truncated body for a complete one.
    socket.prependListener(
      'end',
      guardedOn(socket, () => {
        if (this.onBroken === null) return;
        resetBehindEnd(socket);
        const error = this.#writeError;
        if (error !== null && error.code !== 'EPIPE') this.onBroken(error);
      }),
    );
  }

  #readVersion(chunk: Buffer): void {
    this.#toHead = false;
    const start = chunk.toString('latin1', 0, 'HTTP/1.x'.length);
    this.version = start === 'HTTP/1.0' ? '1.0' : start === 'HTTP/1.1' ? '1.1' : null;
  }

  /** Number of bytes that wait in the socket, either way. */
  get heldBytes(): number {
    return unsentBytes(this.#socket) + this.#socket.readableLength;
  }

  /** Makes the end of the connection a reset. */
  resetAtEnd(): void {
    resetOnceDestroyed(this.#socket);
  }

  pause(): void {
    this.#paused = true;
  }

  /** Resumes reading. Do not call this while undici is reading. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.emit('readable');
  }

  /** Called when undici has read the whole response. From then on, undici reads from the socket as usual. */
  release(): void {
    this.#paused = false;
    this.#toHead = true;
    this.onBroken = null;
    this.onRead = null;
    // A connection that takes no more bytes is ended before undici puts the next request on it.
    if (this.#writeError !== null)
      process.nextTick(guardedOn(this.#socket, () => void this.#socket.destroy()));
  }
}
