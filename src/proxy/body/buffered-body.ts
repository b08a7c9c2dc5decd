import type { IncomingMessage } from 'node:http';
import { sendContinue } from '../ingress/expect-continue.ts';
import type { BodyProgress } from './streamed-body.ts';

/** Bodies of up to this many bytes are read whole before the request is sent to the upstream. */
export const mostBufferedBytes = 16 * 1024;

/**
 * A short body, read whole: it goes out with the head in one piece, and a client that is slow to send it holds no
 * connection to the upstream.
 */
export class BufferedBody implements BodyProgress {
  bytes = 0;
  starving = true;
  /** The body, once it is all there. */
  content: Buffer | null = null;
  readonly #request: IncomingMessage;
  readonly #whole: () => void;
  readonly #chunks: Buffer[] = [];

  /** @param whole called when {@link content} is there */
  constructor(request: IncomingMessage, whole: () => void) {
    this.#request = request;
    this.#whole = whole;
    sendContinue(request);
    request.on('data', this.#onData).on('end', this.#onEnd);
  }

  destroy(): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    this.#chunks.push(chunk);
  };

  readonly #onEnd = (): void => {
    this.starving = false;
    this.content = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#whole();
  };
}
