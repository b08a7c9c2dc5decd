import type { IncomingMessage } from 'node:http';
import { sendContinue } from '../ingress/expect-continue.ts';
import type { BodyProgress } from './streamed-body.ts';

/** Bodies of up to this many bytes are read whole before the request is sent to the upstream. */
export const mostBufferedBytes = 16 * 1024;
/** How long a chunked body is held for an upstream that has not responded yet, milliseconds. */
export const mostHeldMs = 1_000;

/** Bytes of a chunked body that are held at most, for an upstream that may not take chunks. */
const mostHeldBytes = 256 * 1024;

/**
 * A short body, read whole: it goes out with the head in one piece, and a client that is slow to send it holds no
 * connection to the upstream. So is a chunked body for an upstream of HTTP/1.0, which takes none but with a length.
 */
export class BufferedBody implements BodyProgress {
  bytes = 0;
  starving = true;
  /** The body, once it is all there. */
  content: Buffer | null = null;
  readonly #request: IncomingMessage;
  readonly #whole: () => void;
  readonly #tooLong: (() => void) | null;
  readonly #chunks: Buffer[] = [];

  /**
   * @param whole called when {@link content} is there
   * @param tooLong called when a body whose length was not known has more than {@link mostHeldBytes}, once for each piece
   */
  constructor(request: IncomingMessage, whole: () => void, tooLong: (() => void) | null = null) {
    this.#request = request;
    this.#whole = whole;
    this.#tooLong = tooLong;
    sendContinue(request);
    request.on('data', this.#onData).on('end', this.#onEnd);
  }

  destroy(): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd);
  }

  /** Stops here. @returns what has come in so far */
  handOver(): readonly Buffer[] {
    this.destroy();
    this.#request.pause();
    return this.#chunks;
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    this.#chunks.push(chunk);
    if (this.#tooLong !== null && this.bytes > mostHeldBytes) this.#tooLong();
  };

  readonly #onEnd = (): void => {
    this.starving = false;
    this.content = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#whole();
  };
}
