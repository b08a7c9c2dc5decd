import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { sendContinue } from './expect-continue.ts';

/** Bytes of a request's body, by its framing (RFC 9112 §6.3); `undefined` where they cannot be known beforehand. */
export function bodyLength({ headers }: IncomingMessage): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined;
  const length = headers['content-length'];
  return length === undefined ? 0 : Number(length);
}

/** How far a body has come in. */
export interface BodyProgress {
  /** Bytes that have come in. */
  readonly bytes: number;
  /** Whether more is wanted and has not come: the silence is the client's. */
  readonly starving: boolean;
  /** Takes nothing more. */
  destroy(): void;
}

/**
 * A request's body on its way to the upstream, with backpressure. It stands between the two so that an upstream
 * which breaks off does not tear down the client's connection, on which the answer is yet to go out.
 */
export class RequestBody extends Readable implements BodyProgress {
  bytes = 0;
  starving = false;
  readonly #request: IncomingMessage;
  #attached = false;

  constructor(request: IncomingMessage) {
    super();
    this.#request = request;
  }

  override _read(): void {
    this.starving = true;
    if (!this.#attached) this.#attach();
    this.#request.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#request.off('data', this.#onData).off('end', this.#onEnd).pause();
    done(error);
  }

  #attach(): void {
    this.#attached = true;
    sendContinue(this.#request);
    this.#request.on('data', this.#onData).on('end', this.#onEnd);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.bytes += chunk.length;
    this.starving = false;
    if (!this.push(chunk)) this.#request.pause();
  };

  readonly #onEnd = (): void => {
    this.starving = false;
    this.push(null);
  };
}

/** How much is read for nothing, and how long, to keep a connection whose request was answered early. */
const mostDiscarded = { bytes: 256 * 1024, ms: 10_000 };

/**
 * Reads what is left of a request that has been answered and throws it away: hanging up instead could take the answer
 * from the client before it has read it. A client that sends on and on, or nothing more, is cut off.
 */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) {
    request.resume();
    return;
  }
  const { socket } = request;
  let discarded = 0;
  const timer = setTimeout(() => socket.destroy(), mostDiscarded.ms).unref();
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > mostDiscarded.bytes) socket.destroy();
  });
  request.on('close', () => clearTimeout(timer));
  request.resume();
}
