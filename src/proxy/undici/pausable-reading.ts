import type { Socket } from 'node:net';

/**
 * Pauses reading from the socket of one of undici's connections.
 *
 * Pausing undici itself ends the process: where its parser is paused and the upstream closes or resets a connection that
 * is not kept, undici 7 throws an assertion from a listener of the socket (nodejs/undici#5360; mended in undici 8, which
 * wants a later Node than we do). So its parser is never paused: while a client is slow, the socket has nothing to read.
 * The end of a connection comes behind what was received on it, so undici does not learn of that either before its turn.
 */
export class PausableReading {
  /** Told that the connection broke, before undici is: it would take a body without a length for complete then. */
  onBroken: ((error: Error) => void) | null = null;
  readonly #socket: Socket;
  #paused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    const read = socket.read.bind(socket);
    socket.read = (size?: number): unknown => (this.#paused ? null : read(size));
    socket.on('error', (error) => this.onBroken?.(error));
  }

  pause(): void {
    this.#paused = true;
  }

  /** Reads on. Not to be called while undici is reading. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.emit('readable');
  }

  /** The response has been read to its end, by undici, which goes on reading by itself. */
  release(): void {
    this.#paused = false;
    this.onBroken = null;
  }
}
